// Sends AS2 messages with libas2: libas2_client.js KEYS OWN OTHER. It reads a message from
// each line of its input, fields NAME=VALUE between tabs, and answers each with a line of
// such fields that says what came back and what libas2 makes of it. They are those of
// bench/as2/message.go.
const fs = require('fs')
const path = require('path')
const readline = require('readline')
const { AS2Composer, request } = require('libas2')

const [keys, own, other] = process.argv.slice(2)
const pem = name => fs.readFileSync(path.join(keys, name + '.pem'))
const digests = { sha1: 'sha-1', sha256: 'sha-256', sha384: 'sha-384', sha512: 'sha-512' }
const ciphers = {
  '3des': 'des-EDE3-CBC', 'aes128-cbc': 'aes128-CBC', 'aes192-cbc': 'aes192-CBC', 'aes256-cbc': 'aes256-CBC',
  'aes128-gcm': 'aes128-GCM', 'aes192-gcm': 'aes192-GCM', 'aes256-gcm': 'aes256-GCM'
}

async function send (m) {
  const certificate = pem(other + '.cert')
  const composer = new AS2Composer({
    message: { filename: m.filename, contentType: m.type, content: fs.readFileSync(m.file), headers: [{ key: 'Content-Transfer-Encoding', value: '7bit' }] },
    agreement: {
      host: {
        name: own, id: m.from, url: 'http://127.0.0.1/', certificate: pem(own + '.cert'), privateKey: pem(own + '.key'),
        sign: digests[m.digest] || false, decrypt: false, mdn: m.mdn === 'none' ? undefined : { async: false, signing: digests[m.mdnDigest] || false }
      },
      partner: { name: other, id: m.to, url: m.url, file: 'EDIFACT', certificate, encrypt: ciphers[m.encryption] || false, verify: false }
    },
    additionalHeaders: { 'Message-ID': `<${m.messageId}@${own}>` }
  })
  const response = await request(await composer.toRequestOptions())
  const answer = { status: response.statusCode, messageId: `${m.messageId}@${own}` }
  if (m.mdn === 'none') return answer
  const mdn = await response.mime()
  const read = await mdn.dispositionIn(m.mdnDigest ? { cert: certificate } : undefined)
  const n = read.notification
  answer.signedWith = m.mdnDigest && mdn.signed ? m.mdnDigest : ''
  answer.disposition = (n.disposition.processed ? 'processed' : 'failed') + (n.disposition.description ? '/' + n.disposition.description.type : '')
  answer.detail = n.disposition.description ? n.disposition.description.text : ''
  answer.mic = n.receivedContentMic ? 'unchecked' : 'none'
  if (n.originalMessageId !== `<${answer.messageId}>`) answer.failure = `Original-Message-ID is ${n.originalMessageId}`
  return answer
}

async function main () {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    let answer
    try {
      answer = await send(Object.fromEntries(line.split('\t').map(field => [field.slice(0, field.indexOf('=')), field.slice(field.indexOf('=') + 1)])))
    } catch (e) {
      answer = { failure: String(e) }
    }
    process.stdout.write(Object.entries(answer).map(([k, v]) => `${k}=${String(v).replace(/\s+/g, ' ')}`).join('\t') + '\n')
  }
}
main()
