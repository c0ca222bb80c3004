package identity

import (
	"crypto/sha256"
	"time"
)

// The bounds on keys.
const (
	maxText      = 256 // bytes of a tenant, a user, a plan, an id
	maxKeyBytes  = 512 // of a presented key
	maxKnownKeys = 1 << 20
)

// Key is an API key that is known. The secret itself is not: a key is found by
// the SHA-256 of what is presented, which is enough, since keys are random and
// long (a password would need more).
type Key struct {
	Digest    [sha256.Size]byte
	ID        string // what it is called: the dimension api_key
	Tenant    string
	User      string // may be empty, and so may the plan
	Plan      string
	Disabled  bool
	ExpiresAt time.Time // zero: never
}

// Keys are the API keys that are known. They are immutable.
type Keys struct {
	byDigest map[[sha256.Size]byte]*Key
}

// NewKeys checks a list of keys. Ids and digests are unique.
func NewKeys(list []Key) (*Keys, error) {
	if len(list) > maxKnownKeys {
		return nil, invalid("keys", "", "%d are more than %d", len(list), maxKnownKeys)
	}
	k := &Keys{byDigest: make(map[[sha256.Size]byte]*Key, len(list))}
	ids := make(map[string]bool, len(list))
	for i := range list {
		key := list[i]
		switch {
		case key.ID == "" || key.Tenant == "":
			return nil, invalid("keys", "", "key %d has no id or no tenant", i+1)
		case len(key.ID) > maxText || len(key.Tenant) > maxText || len(key.User) > maxText || len(key.Plan) > maxText:
			return nil, invalid("keys", "", "key %q has a text of more than %d bytes", clip(key.ID), maxText)
		case ids[key.ID]:
			return nil, invalid("keys", "give each an id of its own", "the id %q stands twice", key.ID)
		case k.byDigest[key.Digest] != nil:
			return nil, invalid("keys", "keep one of them", "%q and %q have the same digest", k.byDigest[key.Digest].ID, key.ID)
		case key.Digest == sha256.Sum256(nil) || key.Digest == [sha256.Size]byte{}:
			return nil, invalid("keys", "make one with weir apikey new", "key %q has the digest of nothing", key.ID)
		}
		ids[key.ID] = true
		k.byDigest[key.Digest] = &key
	}
	return k, nil
}

// Len returns how many keys are known.
func (k *Keys) Len() int { return len(k.byDigest) }

// find looks a presented key up. The time it takes depends on its digest, which
// tells nothing of other keys.
func (k *Keys) find(secret string, now time.Time) (*Key, Reason) {
	if len(secret) > maxKeyBytes {
		return nil, TooLong
	}
	key := k.byDigest[sha256.Sum256([]byte(secret))]
	switch {
	case key == nil:
		return nil, UnknownKey
	case key.Disabled:
		return nil, Disabled
	case !key.ExpiresAt.IsZero() && !now.Before(key.ExpiresAt):
		return nil, Expired
	}
	return key, None
}
