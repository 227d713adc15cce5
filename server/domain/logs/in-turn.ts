const last = new Map<string, Promise<unknown>>();

/** Does things of one key one after the other in this process, each whatever came of the one before. */
export async function inTurn<T>(key: string, act: () => Promise<T>): Promise<T> {
  const mine = (last.get(key) ?? Promise.resolve()).then(act, act);
  last.set(key, mine);
  try {
    return await mine;
  } finally {
    if (last.get(key) === mine) last.delete(key);
  }
}
