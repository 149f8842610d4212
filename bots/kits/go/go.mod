module fourfold

go 1.19
