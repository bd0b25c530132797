// Package lists makes lists of lists where package slices has no function for it. It knows nothing of what is in them.
package lists

import (
	"slices"
	"strings"
)

// Map lists the values of a function for the items of a list, in their order.
func Map[T, U any](items []T, of func(T) U) []U {
	var values []U
	for _, item := range items {
		values = append(values, of(item))
	}
	return values
}

// Flat joins the lists that a function has for the items of a list, in their order.
func Flat[T, U any](items []T, of func(T) []U) []U { return slices.Concat(Map(items, of)...) }

// Filter lists the items that a condition keeps, in their order.
func Filter[T any](items []T, keep func(T) bool) []T {
	var kept []T
	for _, item := range items {
		if keep(item) {
			kept = append(kept, item)
		}
	}
	return kept
}

// AddNew appends those of the further items that a list doesn't have yet.
func AddNew[T comparable](items []T, further ...T) []T {
	for _, item := range further {
		if !slices.Contains(items, item) {
			items = append(items, item)
		}
	}
	return items
}

// Join is strings.Join for the texts that aren't empty.
func Join(separator string, texts ...string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(texts), func(t string) bool { return t == "" }), separator)
}
