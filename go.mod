module github.com/brokermark/brokermark

go 1.26
