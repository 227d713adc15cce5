/**
 * Returns the parameter that a fault of a request is about: its name, and the `data-at` of its field. Returns null for
 * a fault that no field is about.
 */
export function placeOfFault(path: string): { name: string; at: string } | null {
  const [, group, rest] = /^\/(parameters|secretParameters)\/(.+)$/.exec(path) ?? [];
  if (group === undefined || rest === undefined) return null;
  const name = rest
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .join('.');
  return { name, at: group === 'parameters' ? `/${rest}` : `protected:/${rest}` };
}
