module github.com/edigw/edigw

go 1.26
