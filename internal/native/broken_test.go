package native_test

import (
	"errors"
	"testing"
	"time"

	"google.golang.org/grpc"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"
)

// deaf is a stream whose caller asks on and takes no answer: sending fails, and
// receiving goes on once it has.
type deaf struct {
	grpc.ServerStream
	failed chan struct{}
	asked  int
}

func (d *deaf) Send(*weirv1.CheckBatchResponse) error {
	select {
	case <-d.failed:
	default:
		close(d.failed)
	}
	return errors.New("the stream is broken")
}

func (d *deaf) Recv() (*weirv1.CheckBatchRequest, error) {
	if d.asked++; d.asked == 2 {
		<-d.failed
		time.Sleep(10 * time.Millisecond) // for the sender to note it; less finds nothing, and fails nothing
	}
	return &weirv1.CheckBatchRequest{Checks: []*weirv1.CheckRequest{{Domain: "default", Dimensions: dims("tenant", "a")}}}, nil
}

// TestBrokenStreamEnds: checks that arrive once nothing can be answered are not
// waited for.
func TestBrokenStreamEnds(t *testing.T) {
	ended := make(chan error, 1)
	go func() { ended <- limiter(t).CheckBatch(&deaf{failed: make(chan struct{})}) }()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("no error, though sending failed")
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it waits for answers to checks that nobody asks")
	}
}
