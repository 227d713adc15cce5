import superjson from 'superjson';

/** Property names that the library rejects, although publishers, operators and agents may use them. */
const refused = /^~*(?:__proto__|constructor|prototype)$/;

type Sent = ReturnType<typeof superjson.serialize>;

/**
 * Serializes data for pages in the library's format. Renames the properties that the library would reject, and restores
 * their names in the result. Otherwise, one VM's tag could break the whole list for everyone.
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

/** Input needs no such renaming, so the library handles it. */
export const transformer = { input: superjson, output };

/** Returns a copy of plain objects and arrays with renamed properties. Everything else stays the same. */
function renamed(value: unknown, rename: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => renamed(item, rename));
  if (typeof value !== 'object' || value === null) return value;
  const kind: unknown = Object.getPrototypeOf(value);
  if (kind !== Object.prototype && kind !== null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [rename(name), renamed(part, rename)]));
}
