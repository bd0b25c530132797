# The rows of data.csv with the types of columns.csv; NA where nothing is known.
columns <- read.csv("columns.csv", colClasses = "character", encoding = "UTF-8")
classes <- c(string = "character", array = "character", boolean = "logical", integer = "numeric", number = "numeric")
data <- read.csv("data.csv", colClasses = unname(classes[columns$type]), check.names = FALSE, na.strings = "", encoding = "UTF-8")
cat(nrow(data), "rows of", ncol(data), "columns\n")
