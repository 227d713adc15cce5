import superjson from 'superjson';

/** Names that the library refuses to send, though publishers, operators and agents may well have written them. */
const refused = /^~*(?:__proto__|constructor|prototype)$/;

type Sent = ReturnType<typeof superjson.serialize>;

/**
 * What pages are sent, in the library's form, which their own copy of it reads. Where data has a property that the
 * library refuses, it is sent under another name and put back: one VM's tag must not cost everybody the whole list.
 */
const output = {
  serialize(value: unknown): Sent {
    try {
      return superjson.serialize(value);
    } catch {
      const { json, meta } = superjson.serialize(renamed(value, (name) => (refused.test(name) ? `~${name}` : name)));
      const restored = renamed(json, (name) => (refused.test(name) ? name.slice(1) : name)) as Sent['json'];
      return meta === undefined ? { json: restored } : { json: restored, meta };
    }
  },
  deserialize: (sent: Sent): unknown => superjson.deserialize(sent),
};

/** For both directions; what comes in is read as the library has it. */
export const transformer = { input: superjson, output };

/** A copy of plain objects and arrays with other property names; everything else is the same. */
function renamed(value: unknown, rename: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => renamed(item, rename));
  if (typeof value !== 'object' || value === null) return value;
  const kind: unknown = Object.getPrototypeOf(value);
  if (kind !== Object.prototype && kind !== null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [rename(name), renamed(part, rename)]));
}
