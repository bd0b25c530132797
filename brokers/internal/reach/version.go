package reach

import (
	"fmt"
	"slices"
)

// AtLeast reports whether a server's version is known, and is major.minor or later.
func AtLeast(version string, major, minor int) bool {
	order, err := compared(version, major, minor)
	return err == nil && order >= 0
}

// Before reports whether a server's version is known, and is earlier than major.minor.
func Before(version string, major, minor int) bool {
	order, err := compared(version, major, minor)
	return err == nil && order < 0
}

func compared(version string, major, minor int) (order int, err error) {
	var its [2]int
	_, err = fmt.Sscanf(version, "%d.%d", &its[0], &its[1])
	return slices.Compare(its[:], []int{major, minor}), err
}
