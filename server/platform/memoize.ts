/** Caches a pure function's result for the lifetime of its argument. */
export function memoize<Key extends object, Value>(create: (key: Key) => Value): (key: Key) => Value {
  const known = new WeakMap<Key, { value: Value }>();
  return (key) => {
    const found = known.get(key) ?? { value: create(key) };
    known.set(key, found);
    return found.value;
  };
}
