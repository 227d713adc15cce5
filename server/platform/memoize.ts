/** Caches the results of a pure function for the lifetimes of its arguments. */
export function memoize<Key extends object, Value>(create: (key: Key) => Value): (key: Key) => Value {
  const known = new WeakMap<Key, { value: Value }>();
  return (key) => {
    const found = known.get(key) ?? { value: create(key) };
    known.set(key, found);
    return found.value;
  };
}
