package results

import "github.com/brokermark/brokermark/internal/store"

// Published tells that the point holds the figures of a publication. Nothing is ranked, tested or concluded by them: they
// stand beside measured figures.
func (p Point) Published() bool { return p.Records[0].Kind == store.KindPublished }

// PublishedNote explains published figures, once in a document.
const PublishedNote = "Published figures are those of a paper, on its machines and versions: they stand beside the measured ones, and nothing is " +
	"ranked, tested or judged by them."
