package forwardauth

import (
	"net/http"

	"github.com/weirlimit/weir/identity"
	"github.com/weirlimit/weir/internal/httperr"
)

// reasonTexts say in a sentence about a token or a key why it is not believed.
// None repeats what was sent.
var reasonTexts = [identity.Reasons]string{
	identity.Missing:     "is required and was not sent",
	identity.Duplicate:   "was sent more than once",
	identity.Malformed:   "is not well formed",
	identity.TooLong:     "is too long",
	identity.Algorithm:   "is signed with an algorithm that is not accepted",
	identity.UnknownKey:  "is not known",
	identity.NoKeys:      "cannot be verified yet: the keys of its issuer have not arrived",
	identity.Signature:   "has a signature that does not fit",
	identity.Expired:     "has expired",
	identity.NotYetValid: "is not valid yet",
	identity.Issuer:      "is of another issuer",
	identity.Audience:    "is for another audience",
	identity.Claim:       "lacks a claim that is needed, or has one of the wrong form",
	identity.Disabled:    "is switched off",
}

// sentence says what is wrong with a credential.
func sentence(r *identity.Rejection) string {
	subject := [...]string{"a token", "the token"}
	if r.What == identity.APIKey {
		subject = [...]string{"an API key", "the API key"}
	}
	switch {
	case r.Reason >= identity.Reasons || reasonTexts[r.Reason] == "":
		return subject[1] + " is not accepted"
	case r.Reason == identity.Missing:
		return subject[0] + " " + reasonTexts[r.Reason]
	case r.Reason == identity.UnknownKey && r.What == identity.JWT:
		return subject[1] + " is signed with a key that is not known"
	}
	return subject[1] + " " + reasonTexts[r.Reason]
}

// rejected answers that a credential is required, or that there are two.
func rejected(w http.ResponseWriter, why *identity.Rejection) {
	if why.What == identity.TenantHeader { // the gateway's fault, not the client's
		httperr.Send(w, http.StatusBadRequest, httperr.Problem{
			Code: "invalid", Field: why.What.String(), Reason: why.Reason.String(), Message: why.Error(),
			Hint: "let the gateway replace the header, not add to it",
		})
		return
	}
	scheme, hint := "Bearer", "send a valid token"
	switch {
	case why.What == identity.APIKey:
		scheme, hint = "ApiKey", "send a valid API key"
	case why.Reason != identity.Missing:
		scheme = `Bearer error="invalid_token"` // RFC 6750
	}
	switch why.Reason {
	case identity.NoKeys:
		hint = "try again later" // the token may be good
	case identity.Duplicate:
		hint = "send one credential, in one line"
	}
	w.Header().Set("WWW-Authenticate", scheme)
	httperr.Send(w, http.StatusUnauthorized, httperr.Problem{
		Code: "unauthenticated", Field: why.What.String(), Reason: why.Reason.String(),
		Message: sentence(why), Hint: hint,
	})
}
