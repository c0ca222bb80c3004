package token

// Remembered returns how many tokens are remembered.
func (v *Verifier) Remembered() int {
	c := v.cache.now.Load()
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.mu.young) + len(c.mu.old)
}
