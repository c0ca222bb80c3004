-- Asks Weir about a request, for HAProxy 2.6 or newer: http-request lua.weir.
-- An admission sets variables, txn.weir_ratelimit and so on; a denial is answered
-- here, with Weir's status, fields and body. For the log there is
-- txn.weir_status: 200, the status of a denial, or 0 when Weir was away.

-- The settings. Everything below can stay as it is.
weir = {
  -- "open": requests pass while Weir is away. "closed": they get a 503.
  fail = "open",
  -- Where Weir is: the frontend of that name in haproxy.cfg.
  dst = "abns@weir",
  -- What is asked; domain, policy and cost may be added, as in ?domain=api.
  url = "http://weir/v1/auth",
  -- Longest to wait for an answer, in milliseconds. This is the second line: the
  -- backend in haproxy.cfg gives up earlier, and must. HAProxy's Lua client asks
  -- again when its own time is up, and a request would be charged twice.
  timeout = 1000,
  -- The fields of a request that may prove who sends it. No other reaches Weir.
  credentials = { "authorization", "x-api-key" },
}

-- What an answer may say to the client. Fields that are not listed stay here.
local answer_fields = {
  "ratelimit", "ratelimit-policy",
  "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "x-ratelimit-policy", "x-ratelimit-scope",
}
local denial_fields = { "retry-after", "content-type", "cache-control", "www-authenticate" }

-- Longest question, in bytes. Weir takes 16 KiB and HAProxy's own buffer has as
-- much; what does not fit must not look like a Weir that is away.
local max_question = 12 * 1024

-- problem is the body of an answer that is not Weir's.
local function problem(status, title, detail)
  return { status = status, headers = { ["content-type"] = { [0] = "application/problem+json" } },
    body = string.format('{"type":"about:blank","title":"%s","status":%d,"detail":"%s"}\n', title, status, detail) }
end

-- question returns the fields to ask with, and how long they are.
local function question(txn)
  local headers = {
    ["host"] = { "weir" },
    ["x-forwarded-for"] = { txn.sf:src() },
    ["x-forwarded-host"] = { txn.sf:req_hdr("host") },
    ["x-forwarded-method"] = { txn.sf:method() },
    ["x-forwarded-uri"] = { txn.sf:pathq() },
  }
  local sent = txn.http:req_get_headers()
  for _, name in ipairs(weir.credentials) do
    if sent[name] ~= nil then
      headers[name] = {}
      for _, value in pairs(sent[name]) do -- all of them: what two mean is for Weir to say
        table.insert(headers[name], value)
      end
    end
  end
  local size = 0
  for name, values in pairs(headers) do
    for _, value in ipairs(values) do
      size = size + #name + #value + 4
    end
  end
  return headers, size
end

-- ask returns Weir's answer, or nil when there is none.
local function ask(txn)
  local headers, size = question(txn)
  if size > max_question then
    return problem(431, "Request Header Fields Too Large", "the path and credentials are too long")
  end
  local ok, res = pcall(function()
    return core.httpclient():get({ url = weir.url, dst = weir.dst, headers = headers, timeout = weir.timeout })
  end)
  if not ok or res == nil or res.headers == nil then
    return nil
  end
  -- A 5xx without X-Weir-Status is no decision: HAProxy's own, about a Weir that
  -- is away, or Weir's, that it cannot decide.
  if res.status >= 500 and res.headers["x-weir-status"] == nil or res.status < 200 then
    return nil
  end
  -- Only a decision admits: a 200 of anything but /v1/auth is none.
  local mark = res.headers["x-weir-status"]
  if res.status == 200 and (mark == nil or mark[0] ~= "200") then
    return problem(502, "Bad Gateway", "what answered is not the rate limiter's /v1/auth")
  end
  return res
end

-- refuse answers the request in place of the backend.
local function refuse(txn, res)
  local reply = txn:reply({ status = res.status, body = res.body })
  for _, list in ipairs({ answer_fields, denial_fields }) do
    for _, name in ipairs(list) do
      if res.headers[name] ~= nil then
        reply:add_header(name, res.headers[name][0])
      end
    end
  end
  txn:set_var("txn.weir_status", res.status)
  txn:done(reply)
end

core.register_action("weir", { "http-req" }, function(txn)
  local res = ask(txn)
  if res == nil and weir.fail == "open" then
    txn:set_var("txn.weir_status", 0)
    return
  end
  if res == nil then
    res = problem(503, "Service Unavailable", "the rate limiter is away")
    res.headers["retry-after"] = { [0] = "1" }
  end
  if res.status ~= 200 then
    refuse(txn, res)
    return
  end
  txn:set_var("txn.weir_status", 200)
  for _, name in ipairs(answer_fields) do
    if res.headers[name] ~= nil then
      txn:set_var("txn.weir_" .. name:gsub("-", "_"), res.headers[name][0])
    end
  end
end, 0)
