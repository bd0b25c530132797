package browse

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/brokermark/brokermark/internal/browsertest"
	"github.com/brokermark/brokermark/internal/page"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/store/storetest"
	"github.com/brokermark/brokermark/internal/testkit"
)

var pictures = flag.String("pictures", "", "directory to leave pictures of the pages in")

func TestMain(m *testing.M) { browsertest.Main(m) }

// shelf is a store of these records.
func shelf(records []store.Record, running store.Running) Source {
	return Source{
		Name: "s.db", Host: "here",
		Read: func(ctx context.Context, where string) ([]store.Record, error) {
			return store.Collect(results.Select(ctx, storetest.Records(records), where))
		},
		Running: func(context.Context) (store.Running, error) { return running, nil },
		Page: func(set *results.Set, where string, args ...string) page.Source {
			return page.Source{Set: set, Command: strings.Join(args, " ") + " of " + where, Tool: "test"}
		},
	}
}

func served(t *testing.T, s Source) string {
	t.Helper()
	server := httptest.NewServer(Handler(s))
	t.Cleanup(server.Close)
	return server.URL
}

// demo is the demo's records, and a run of another day whose study has an unkind name.
func demo() []store.Record {
	records := storetest.Demo()
	odd := records[0]
	odd.Study, odd.Began, odd.Status, odd.Reason = `<script>alert(1)</script>`, odd.Began.AddDate(0, 0, 1), store.Void, "the generator was late"
	return append(records, odd)
}

var under = store.Running{
	Claims: []store.Claim{{PointID: storetest.Demo()[0].PointID, Repetition: 4}, {PointID: "never seen", Repetition: 1}},
	Pages:  []store.Page{{URL: "http://127.0.0.1:8080/", Host: "here"}},
}

func TestThePageOfARequestThatEndedIsNotMade(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := shelf(demo(), under)
	read := s.Read
	s.Read = func(ctx context.Context, where string) ([]store.Record, error) {
		defer cancel()
		return read(ctx, where)
	}
	s.Page = func(*results.Set, string, ...string) page.Source {
		t.Error("the page is made")
		return page.Source{}
	}
	for _, path := range []string{"/report", "/compare?a=kafka&b=nats"} {
		Handler(s).ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil))
	}
}

func TestAStoreIsBrowsedFromItsListToReportsAndComparisons(t *testing.T) {
	testkit.NotShort(t) // it is not our code that runs in a browser
	for name, screen := range map[string]browsertest.Screen{
		"desktop-light": {Width: 1200, Height: 900}, "desktop-dark": {Width: 1200, Height: 900, Dark: true},
		"phone-light": {Width: 400, Height: 800}, "phone-dark": {Width: 400, Height: 800, Dark: true},
	} {
		t.Run(name, func(t *testing.T) {
			url := served(t, shelf(demo(), under))
			b := browsertest.Open(t, url+"/", url, screen)
			narrow := func() {
				t.Helper()
				if wide := browsertest.Eval[int64](t, b, `document.documentElement.scrollWidth`); wide > screen.Width {
					t.Errorf("the page is %d wide on a screen of %d", wide, screen.Width)
				}
			}
			shoot := func(what string) {
				t.Helper()
				if *pictures != "" {
					b.Shoot(t, filepath.Join(*pictures, name+"-"+what+".png"))
				}
			}
			narrow()
			shoot("index")
			t.Run("no rule of accessibility is broken", b.Accessible)
			text := browsertest.Eval[string](t, b, `document.body.innerText`)
			for _, want := range []string{"2 runs", "<script>alert(1)</script>", "1 void", "2 repetitions under way", "(repetition 4)", "http://127.0.0.1:8080/"} {
				if !strings.Contains(text, want) {
					t.Errorf("the list lacks %q:\n%s", want, text)
				}
			}
			b.Do(t, chromedp.Click("tbody tr:last-child a"), chromedp.WaitReady("#figures svg"))
			if title := browsertest.Eval[string](t, b, `document.title`); title != "Brokermark report" {
				t.Errorf("behind a run is %q", title)
			}
			narrow()
			shoot("report")
			b.Do(t, chromedp.Navigate(url+"/"), chromedp.WaitReady("main"),
				chromedp.SendKeys("form[action='/compare'] input[name=a]", "kafka"),
				chromedp.SendKeys("form[action='/compare'] input[name=b]", "rabbitmq"),
				chromedp.Click("form[action='/compare'] button"), chromedp.WaitReady("#figures"))
			if title := browsertest.Eval[string](t, b, `document.title`); !strings.Contains(title, "kafka") || !strings.Contains(title, "rabbitmq") {
				t.Errorf("the comparison is called %q", title)
			}
			narrow()
			shoot("compare")
			b.Quiet(t) // the status of the next page is on the console
			b.Do(t, chromedp.Navigate(url+"/report?where=broker%3Dkafak"), chromedp.WaitReady(".problem"))
			narrow()
			t.Run("nor on the page of a problem", b.Accessible)
		})
	}
}

// got is an answer to a GET.
func got(t *testing.T, url string) (int, http.Header, string) {
	t.Helper()
	return asked(t, http.MethodGet, url)
}

func asked(t *testing.T, method, url string) (int, http.Header, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, answer.Header, string(body)
}

func TestWhatCannotBeShownIsAnsweredWithASentence(t *testing.T) {
	url := served(t, shelf(demo(), store.Running{}))
	for path, c := range map[string]struct {
		code int
		says string
	}{
		"/report?where=nonsense":                   {400, "&#34;nonsense&#34; is not name=value"},
		"/report?where=brokr=kafka":                {400, "did you mean &#34;broker&#34;?"},
		"/report?where=broker=kafak":               {400, "no record has broker=kafak; there are: "},
		"/report?name=sumary":                      {400, "did you mean &#34;summary&#34;?"},
		"/compare":                                 {400, "a comparison needs two sides"},
		"/compare?a=kafka":                         {400, "a comparison needs two sides"},
		"/compare?a=kafka&b=kafka":                 {400, "both sides are kafka"},
		"/compare?a=kafka&b=nosuch":                {400, "no record has broker=nosuch"},
		"/compare?a=/etc/passwd&b=kafka":           {400, "no record has broker=/etc/passwd"},
		"/compare?a=kafka&b=kafka@9.9":             {400, "no record with broker=kafka has version=9.9"},
		"/nothing":                                 {404, "there is no page &#34;/nothing&#34; here"},
		"/report?where=study=%3Cb%3E":              {400, "study=&lt;b&gt;"},
		"/../files/index.html":                     {404, "there is no page"},
		"/report?where=broker=kafka,broker=pulsar": {400, "no record with broker=kafka has broker=pulsar"},
	} {
		code, _, body := got(t, url+path)
		if code != c.code || !strings.Contains(body, c.says) || !strings.Contains(body, `href="/"`) {
			t.Errorf("%s: %d, want %d with %q and the way back:\n%s", path, code, c.code, c.says, body)
		}
	}
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete} {
		for _, path := range []string{"/", "/report", "/compare"} {
			if code, _, _ := asked(t, method, url+path); code != http.StatusMethodNotAllowed {
				t.Errorf("%s %s answers %d: the site is read-only", method, path, code)
			}
		}
	}
}

func TestAStoreThatIsAwayIsSaidAndItsPasswordIsNot(t *testing.T) {
	s := shelf(nil, store.Running{})
	s.Read = func(context.Context, string) ([]store.Record, error) {
		return nil, fmt.Errorf("read: %w", &store.Error{Problem: store.Unreachable, Store: "postgres://team:s3cret@db/x", Detail: "doesn't answer"})
	}
	url := served(t, s)
	for _, path := range []string{"/", "/report", "/compare?a=x&b=y"} {
		code, _, body := got(t, url+path)
		if code != http.StatusServiceUnavailable || !strings.Contains(body, "doesn&#39;t answer") || strings.Contains(body, "s3cret") {
			t.Errorf("%s: %d\n%s", path, code, body)
		}
	}
}

func TestAnEmptyStoreSaysHowToFillIt(t *testing.T) {
	code, _, body := got(t, served(t, shelf(nil, store.Running{}))+"/")
	if code != 200 || !strings.Contains(body, "holds nothing yet") || strings.Contains(body, "<form") {
		t.Errorf("%d\n%s", code, body)
	}
}

func TestAPageThatCannotBeMadeHoldsUpNoOther(t *testing.T) {
	s := shelf(demo(), store.Running{})
	broken := true
	s.Running = func(context.Context) (store.Running, error) {
		if broken {
			broken = false
			panic(http.ErrAbortHandler) // which the server doesn't log
		}
		return store.Running{}, nil
	}
	url := served(t, s)
	if answer, err := http.Get(url); err == nil {
		answer.Body.Close()
		t.Error("a page that broke was answered")
	}
	code, header, body := got(t, url)
	if code != 200 || !strings.Contains(body, "2 runs") || !strings.Contains(header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("the next page: %d %v\n%.300s", code, header, body)
	}
}

func TestEveryReportIsServedOfASelection(t *testing.T) {
	url := served(t, shelf(demo(), store.Running{}))
	for _, name := range []string{"summary", "headtohead", "promise"} {
		code, header, body := got(t, url+"/report?where=broker=kafka&name="+name)
		if code != 200 || !strings.Contains(body, "Made with <code>report "+name+" of broker=kafka</code>") {
			t.Errorf("%s: %d %.300s", name, code, body)
		}
		if header.Get("X-Content-Type-Options") != "nosniff" || header.Get("Cache-Control") != "no-store" || !strings.Contains(body, "default-src &#39;none&#39;") {
			t.Errorf("%s is unguarded: %v", name, header)
		}
	}
}

func TestTheListNamesRunsByStudyAndDayLatestFirst(t *testing.T) {
	records := demo()
	list := runsOf(records)
	if len(list) != 2 || list[0].Study != `<script>alert(1)</script>` || list[0].Endings != "1 void" {
		t.Fatalf("%+v", list)
	}
	sum := 0
	for _, r := range list {
		selected, err := store.Collect(results.Select(t.Context(), storetest.Records(records), r.Where))
		if n := len(results.Latest(selected)); err != nil || n != r.Repetitions {
			t.Errorf("%s selects %d of its %d repetitions: %v", r.Where, n, r.Repetitions, err)
		}
		sum += len(selected)
	}
	if sum != len(records) {
		t.Errorf("the runs hold %d of %d repetitions", sum, len(records))
	}
	odd := records[0]
	odd.Study = "a, b"
	if list := runsOf([]store.Record{odd}); list[0].Where != "study=a, b,began="+list[0].Day {
		t.Errorf("a study with a comma in its name: %q", list[0].Where)
	}
	odd.Study = "a,b=c"
	if list := runsOf([]store.Record{odd}); list[0].Where != "began="+list[0].Day {
		t.Errorf("a study that no selection can name: %q", list[0].Where)
	}
}

// A repetition that came to nothing and was run again is one, as in the report that the list links to.
func TestTheListCountsRepetitionsAsTheReportBehindItDoes(t *testing.T) {
	record := storetest.Demo()[0]
	record.Repetition, record.Status, record.Reason = 1, store.OK, ""
	aborted := record
	aborted.Status, aborted.Reason, aborted.Result = store.Aborted, "interrupted", nil
	records := []store.Record{aborted, record}
	list := runsOf(records)
	if len(list) != 1 || list[0].Repetitions != 1 || list[0].Endings != "1 ok" || list[0].Points != 1 {
		t.Errorf("%+v", list)
	}
	points := results.Of(records).Points
	if len(points) != 1 || points[0].Status() != "ok" {
		t.Errorf("the report has %+v", points)
	}
}

func TestARunOfAnotherMachineIsLinkedOnlyWhereItCanBeReached(t *testing.T) {
	s := site{Source: shelf(nil, store.Running{})}
	for _, c := range []struct {
		page store.Page
		want string
	}{
		{store.Page{URL: "http://127.0.0.1:8080/", Host: "here"}, "http://127.0.0.1:8080/"},
		{store.Page{URL: "http://127.0.0.1:8080/", Host: "there"}, ""},
		{store.Page{URL: "http://localhost:8080/", Host: "there"}, ""},
		{store.Page{URL: "http://[::1]:8080/", Host: "there"}, ""},
		{store.Page{URL: "http://there:8080/", Host: "there"}, "http://there:8080/"},
		{store.Page{URL: "javascript:alert(1)", Host: "here"}, ""},
		{store.Page{URL: "http://[::1", Host: "here"}, ""},
	} {
		if got := s.livePage(c.page); got.URL != c.want || got.Host != c.page.Host {
			t.Errorf("%v: %v, want a link to %q", c.page, got, c.want)
		}
	}
}

func TestWhatIsOfferedCanBeCompared(t *testing.T) {
	records := demo()
	values := results.Selectable(records)
	names := severalValued(values)
	sides := sidesOf(values, names, runsOf(records))
	if len(names) == 0 || len(sides) < 4 {
		t.Fatalf("%v, %v", names, sides)
	}
	for _, side := range sides {
		if _, err := store.Collect(results.Select(t.Context(), storetest.Records(records), results.SideSelection(side))); err != nil && !strings.Contains(side, ",") {
			t.Errorf("%q is offered: %v", side, err)
		}
	}
}

func TestAnErrorThatNoRequestCausedIsNotCalledABadRequest(t *testing.T) {
	s := shelf(demo(), store.Running{})
	s.Running = func(context.Context) (store.Running, error) { return store.Running{}, errors.New("odd") }
	if code, _, body := got(t, served(t, s)+"/"); code != http.StatusInternalServerError || !strings.Contains(body, "odd") {
		t.Errorf("%d\n%s", code, body)
	}
}
