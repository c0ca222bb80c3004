// Calls a gRPC server as told by lines of JSON, and prints what came of each.
// Messages are bytes, in base64: what they mean is the test's business.
'use strict';
const grpc = require('@grpc/grpc-js');
const fs = require('fs');
const readline = require('readline');

// The address, and for TLS the file of the server's authority.
const [address, authority] = process.argv.slice(2);
const credentials = authority ? grpc.credentials.createSsl(fs.readFileSync(authority)) : grpc.credentials.createInsecure();
const client = new grpc.Client(address, credentials, { 'grpc.enable_http_proxy': 0 });
const bytes = (b) => b;

function metadata(ask) {
  const m = new grpc.Metadata();
  if (ask.metadata) m.set('x-large', 'm'.repeat(ask.metadata));
  return m;
}

function unary(ask, done) {
  const options = ask.timeout ? { deadline: Date.now() + ask.timeout } : {};
  let trailers = null;
  const call = client.makeUnaryRequest(ask.path, bytes, bytes, Buffer.from(ask.message, 'base64'), metadata(ask), options,
    (err, answer) => {
      if (err) return done({ code: err.code, details: err.details });
      // The status follows the message.
      const finish = () => done({ code: trailers.code, details: trailers.details, message: answer.toString('base64') });
      if (trailers) finish(); else call.once('status', finish);
    });
  call.on('status', (s) => { trailers = s; });
  if (ask.cancel) call.cancel();
}

// stream takes the first message and cancels.
function stream(ask, done) {
  const call = client.makeServerStreamRequest(ask.path, bytes, bytes, Buffer.from(ask.message, 'base64'), metadata(ask), {});
  let first = '';
  call.on('data', (answer) => { first = answer.toString('base64'); call.cancel(); });
  call.on('error', (err) => done({ code: err.code, details: err.details, message: first }));
}

function many(ask, done) {
  const codes = {};
  let left = ask.many;
  for (let i = 0; i < ask.many; i++) {
    unary({ path: ask.path, message: ask.message }, (r) => {
      codes[r.code] = (codes[r.code] || 0) + 1;
      if (--left === 0) done({ code: 0, details: JSON.stringify(codes) });
    });
  }
}

readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const ask = JSON.parse(line);
  const how = ask.stream ? stream : ask.many ? many : unary;
  how(ask, (r) => process.stdout.write(JSON.stringify(r) + '\n'));
}).on('close', () => client.close());
