const longest = 180;

/** Returns the name of a rollout that follows from another one. Long names are cut between two characters. */
export function followName(name: string, what: string): string {
  const cut = name.slice(0, longest);
  return `${cut.isWellFormed() ? cut : cut.slice(0, -1)} (${what})`;
}
