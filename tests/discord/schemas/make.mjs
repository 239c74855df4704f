// Makes rest.json.gz and gateway.json.gz from two npm packages; README.md says how to run it.
//
// rest.json: paths and methods from the TypeScript of discord-api-spec (Discord's own OpenAPI
// document), with its Zod schemas as definitions, which carry limits that TypeScript cannot say.
// gateway.json: dispatches by event and sent frames by opcode, from discord-api-types.
import fs from 'node:fs'
import path from 'node:path'
import zlib from 'node:zlib'
import * as spec from 'discord-api-spec/zod'
import { createGenerator } from 'ts-json-schema-generator'
import * as z from 'zod/mini'

const [out = '.'] = process.argv.slice(2)
const WORDS = ['description', '$comment', 'title', 'deprecated', 'example', 'examples', 'default', '$schema', '$id']
const METHODS = ['get', 'post', 'put', 'patch', 'delete']

// A schema without words for people; `properties` may well be called `description`.
function bare(node, named = false) {
  if (Array.isArray(node)) return node.map((one) => bare(one))
  if (node === null || typeof node !== 'object') return node
  const kept = Object.entries(node).filter(([key]) => named || !WORDS.includes(key))
  if (node.format === 'date-time') return { type: 'string' } // Discord's end in +00:00, Zod wants Z
  return Object.fromEntries(kept.map(([key, one]) => [key, bare(one, !named && ['properties', 'definitions'].includes(key))]))
}

// TypeScript's bit-flag enums are sums in practice: an enum of powers of two becomes an integer.
function relaxed(node) {
  if (Array.isArray(node)) return node.map(relaxed)
  if (node === null || typeof node !== 'object') return node
  const made = Object.fromEntries(Object.entries(node).map(([key, one]) => [key, relaxed(one)]))
  const values = made.enum ?? ('const' in made ? [made.const] : [])
  const bits = values.length > 0 && values.every((one) => Number.isInteger(one) && one > 0 && (one & (one - 1)) === 0)
  if (bits && (values.length > 3 || made.const === 1 || values.includes(32))) {
    delete made.enum
    delete made.const
    made.type = 'integer'
  }
  return made
}

// What can be reached from here, by name.
function reached(roots, definitions) {
  const names = new Set()
  const walk = (node) => {
    if (node === null || typeof node !== 'object') return
    if (typeof node.$ref === 'string') {
      const name = decodeURIComponent(node.$ref.replace('#/definitions/', ''))
      if (!names.has(name) && definitions[name] !== undefined) {
        names.add(name)
        walk(definitions[name])
      }
    }
    Object.values(node).forEach(walk)
  }
  walk(roots)
  return Object.fromEntries([...names].sort().map((name) => [name, definitions[name]]))
}

function write(name, made) {
  const packed = zlib.gzipSync(Buffer.from(JSON.stringify(made)), { level: 9 })
  packed[9] = 255 // the same bytes on every system
  fs.writeFileSync(path.join(out, name), packed)
  console.log(name, packed.length, 'bytes')
}

function typescript(file, type) {
  const made = createGenerator({ path: file, type, skipTypeCheck: true, tsconfig: 'tsconfig.json' }).createSchema(type)
  return made.definitions
}

function rest() {
  const registry = z.registry()
  for (const [name, schema] of Object.entries(spec)) {
    if (name.endsWith('Schema') && schema?._zod) registry.add(schema, { id: name.slice(0, -6) })
  }
  const uri = (id) => '#/definitions/' + id
  const limits = z.toJSONSchema(registry, { uri, unrepresentable: 'any', io: 'input' }).schemas
  const typed = typescript('node_modules/discord-api-spec/build/discord-api-spec.ts', 'Paths')
  const paths = {}
  for (const [route, item] of Object.entries(typed.Paths.properties)) {
    for (const method of METHODS.filter((one) => item.properties?.[one] !== undefined)) {
      const { requestBody, responses } = item.properties[method].properties
      paths[route] ??= {}
      paths[route][method] = { body: requestBody?.not ? null : (requestBody ?? null), responses: responses.properties }
    }
  }
  const definitions = bare({ ...typed, ...limits })
  write('rest.json.gz', { paths: bare(paths, true), definitions: reached(bare(paths), definitions) })
}

function gateway() {
  const source = `import type { GatewayReceivePayload, GatewaySendPayload } from 'discord-api-types/v10'
export interface Gateway { receive: GatewayReceivePayload; send: GatewaySendPayload }`
  fs.writeFileSync('gateway.ts', source)
  const strict = bare(typescript('gateway.ts', 'Gateway'))
  const definitions = relaxed(strict)
  const followed = (node) => {
    while (node.$ref) node = strict[decodeURIComponent(node.$ref.replace('#/definitions/', ''))]
    return node
  }
  const each = (node, visit) => {
    const here = followed(node)
    if (here.anyOf) here.anyOf.forEach((one) => each(one, visit))
    else visit(here)
  }
  const events = {}
  const frames = {}
  const root = strict.Gateway.properties
  each(root.receive, ({ properties }) => {
    const t = properties?.t && followed(properties.t)
    for (const name of t?.enum ?? (t?.const ? [t.const] : [])) (events[name] ??= []).push(relaxed(properties.d ?? {}))
  })
  each(root.send, (frame) => {
    const op = followed(frame.properties.op)
    for (const code of op.enum ?? [op.const]) frames[code] = relaxed(frame.properties.d ?? {})
  })
  for (const [name, list] of Object.entries(events)) events[name] = list.length > 1 ? { anyOf: list } : list[0]
  write('gateway.json.gz', { events, frames, definitions: reached([events, frames], definitions) })
}

rest()
gateway()
