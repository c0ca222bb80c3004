package policy

// nearest returns the word of known that text most likely misspells, or "". A
// third of its letters may be wrong, but not all of them.
func nearest(text string, known []string) string {
	const longest = 40 // no key comes near it
	if len(text) > longest {
		return ""
	}
	best, least := "", max(1, len(text)/3)+1
	for _, word := range known {
		if d := distance(text, word, least); word != text && d < least && d < len(word) {
			best, least = word, d
		}
	}
	return best
}

// distance counts the letters to change, add, drop or swap with their neighbour
// to make b of a, without regard to case and to '-' for '_'. Past most it only
// says more than most.
func distance(a, b string, most int) int {
	if len(a)-len(b) > most || len(b)-len(a) > most {
		return most + 1
	}
	older, old, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		older, old, row = old, row, older
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := old[j-1]
			if letter(a[i-1]) != letter(b[j-1]) {
				change++
			}
			row[j] = min(change, old[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && letter(a[i-1]) == letter(b[j-2]) && letter(a[i-2]) == letter(b[j-1]) {
				row[j] = min(row[j], older[j-2]+1)
			}
		}
	}
	return row[len(b)]
}

// letter is c as people compare it.
func letter(c byte) byte {
	switch {
	case 'A' <= c && c <= 'Z':
		return c + 'a' - 'A'
	case c == '-' || c == ' ':
		return '_'
	}
	return c
}
