/** Returns the name of a rollout that follows from another one. Long names are shortened to fit the limit. */
export const followName = (name: string, what: string): string => `${[...name].slice(0, 180).join('')} (${what})`;
