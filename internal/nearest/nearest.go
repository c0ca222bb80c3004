package nearest

// Of returns the name that is most like word, "" if none is: at most two
// letters, and fewer than half, may differ.
func Of(word string, names []string) string {
	best, least := "", 3
	for _, name := range names {
		if len(word) > len(name)+least {
			continue // somebody's text may be of any length
		}
		if d := distance(word, name); d < least && 2*d < len(name) {
			best, least = name, d
		}
	}
	return best
}

// distance is how many letters must be added, dropped or changed to make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0]++
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
