// Receives AS2 messages with libas2: libas2_server.js KEYS OWN OTHER FOLDER. It prints
// `listening PORT`. What it received stands in the folder under the number of its arrival:
// NUMBER.json tells of the message, NUMBER.0 is the payload. It ends when its input does.
const fs = require('fs')
const http = require('http')
const path = require('path')
const { AS2Parser } = require('libas2')

const [keys, own, other, folder] = process.argv.slice(2)
const pem = name => fs.readFileSync(path.join(keys, name + '.pem'))
let arrivals = 0

async function receive (request, body) {
  const fields = []
  for (let i = 0; i < request.rawHeaders.length; i += 2) fields.push(`${request.rawHeaders[i]}: ${request.rawHeaders[i + 1]}\r\n`)
  // As bytes: given apart, it would read the body as UTF-8.
  const message = await AS2Parser.parse(Buffer.concat([Buffer.from(fields.join('') + '\r\n'), body]))
  const host = { cert: pem(own + '.cert'), key: pem(own + '.key') }
  const signed = (message.encrypted ? await message.decrypt(host) : message).signed
  const asked = request.headers['disposition-notification-options'] || ''
  const micalg = /signed-receipt-micalg=[^,]*,\s*([\w-]+)/.exec(asked)
  const { contentNode, dispositionNode, disposition } = await message.dispositionOut({
    agreement: {
      host: { id: request.headers['as2-to'], certificate: host.cert, privateKey: host.key, decrypt: message.encrypted },
      partner: {
        id: request.headers['as2-from'], certificate: pem(other + '.cert'), verify: signed,
        mdn: { signing: asked.includes('signed-receipt-protocol') && micalg ? micalg[1] : false }
      }
    }
  })
  if (disposition.notification.disposition.processed) keep(message, contentNode, signed)
  return dispositionNode.build()
}

function keep (message, content, signed) {
  const number = arrivals++
  // It leaves the line break at the end that belongs to the boundary behind (RFC 2046 §5.1.1).
  const whole = Buffer.from(content.content)
  fs.writeFileSync(path.join(folder, `${number}.0`), signed ? whole.slice(0, -2) : whole)
  const told = {
    messageId: message.messageId().replace(/[<>]/g, ''), from: message.getHeader('AS2-From'), filename: content.filename || message.filename || '',
    signed, encrypted: message.encrypted, compressed: message.compressed
  }
  fs.writeFileSync(path.join(folder, `${number}.part`), JSON.stringify(told))
  fs.renameSync(path.join(folder, `${number}.part`), path.join(folder, `${number}.json`))
}

const server = http.createServer((request, response) => {
  const pieces = []
  request.on('data', piece => pieces.push(piece))
  request.on('end', async () => {
    try {
      const mdn = await receive(request, Buffer.concat(pieces))
      const at = mdn.indexOf('\r\n\r\n')
      for (const field of mdn.toString('latin1', 0, at).replace(/\r\n[ \t]+/g, ' ').split('\r\n')) {
        response.setHeader(field.slice(0, field.indexOf(':')), field.slice(field.indexOf(':') + 1).trim())
      }
      response.end(mdn.slice(at + 4))
    } catch (e) {
      console.error(e)
      response.statusCode = 500
      response.end(String(e))
    }
  })
})
server.listen(0, '127.0.0.1', () => console.log(`listening ${server.address().port}`))
process.stdin.on('end', () => process.exit(0)).resume()
