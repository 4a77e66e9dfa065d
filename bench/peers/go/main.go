// Program gomemcache is gomemcache under the contract of the measured programs (../../contract).
//
// The client keeps so many idle connections but opens one for each goroutine that finds none, so
// the goroutines queue for as many turns as there are connections.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bradfitz/gomemcache/memcache"
)

const (
	keys        = 10_000
	bytes       = 64 * 1024 * 1024
	keysPerTask = 16
	warmUp      = 200 * time.Millisecond
)

const (
	warming = iota
	counting
	over
)

type order struct {
	server      string
	connections int
	tasks       int
	span        time.Duration
	operation   string
	value       []byte
}

func readOrder(args []string) (order, error) {
	if len(args) != 6 || args[4] != "get" && args[4] != "set" {
		return order{}, fmt.Errorf("usage: HOST:PORT CONNECTIONS TASKS SECONDS get|set VALUE_SIZE")
	}
	connections, err1 := strconv.Atoi(args[1])
	tasks, err2 := strconv.Atoi(args[2])
	seconds, err3 := strconv.ParseFloat(args[3], 64)
	size, err4 := strconv.Atoi(args[5])
	for _, err := range []error{err1, err2, err3, err4} {
		if err != nil {
			return order{}, err
		}
	}
	value := make([]byte, size)
	for index := range value {
		value[index] = 'x'
	}
	return order{
		server:      args[0],
		connections: connections,
		tasks:       tasks,
		span:        time.Duration(seconds * float64(time.Second)),
		operation:   args[4],
		value:       value,
	}, nil
}

func (o order) keys(task int) []string {
	count := min(max(bytes/max(len(o.value), 1), 1), keys)
	names := make([]string, keysPerTask)
	for index := range names {
		names[index] = fmt.Sprintf("key%05d", (task*7919+index*31)%count)
	}
	return names
}

func (o order) once(client *memcache.Client, turns chan struct{}, key string) bool {
	turns <- struct{}{}
	defer func() { <-turns }()
	if o.operation == "set" {
		return client.Set(&memcache.Item{Key: key, Value: o.value}) == nil
	}
	item, err := client.Get(key)
	return err == nil && len(item.Value) == len(o.value)
}

func main() {
	o, err := readOrder(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	client := memcache.New(o.server)
	client.MaxIdleConns = o.connections
	client.Timeout = time.Second

	var phase atomic.Int32
	var operations, errors atomic.Int64
	var tasks sync.WaitGroup
	turns := make(chan struct{}, o.connections)
	for number := range o.tasks {
		tasks.Add(1)
		go func() {
			defer tasks.Done()
			names := o.keys(number)
			var done, failed int64
			for index := 0; phase.Load() != over; index++ {
				ok := o.once(client, turns, names[index%len(names)])
				if phase.Load() != counting {
					continue
				}
				if ok {
					done++
				} else {
					failed++
				}
			}
			operations.Add(done)
			errors.Add(failed)
		}()
	}
	time.Sleep(warmUp)
	began := time.Now()
	phase.Store(counting)
	time.Sleep(o.span)
	phase.Store(over)
	seconds := time.Since(began).Seconds()
	tasks.Wait()
	outcome := map[string]any{
		"operations": operations.Load(),
		"seconds":    seconds,
		"errors":     errors.Load(),
	}
	if err := json.NewEncoder(os.Stdout).Encode(outcome); err != nil {
		os.Exit(1)
	}
}
