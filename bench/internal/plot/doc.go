// Package plot draws the two kinds of plot that the documents need, as SVG that
// stands alone: bars in groups, and lines over a logarithmic axis.
//
// The colours follow the reader's scheme, light or dark, and every figure is
// also written as text. Everything here is pure: the same data give the same
// bytes.
package plot
