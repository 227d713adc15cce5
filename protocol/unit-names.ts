const part = '[a-z0-9]*[a-z][a-z0-9]*';

/**
 * The name of a service or of a relation: lowercase parts joined by hyphens, each with at least one letter. The folder
 * `wordpress-1` therefore belongs to the unit `wordpress/1`, and never to a service of that name.
 */
const serviceNamePattern = new RegExp(`^[a-z][a-z0-9]*(?:-${part})*$`);
export const maxServiceNameLength = 63;

const unitNumberPattern = /^(?:0|[1-9]\d{0,9})$/;
const maxUnitNameLength = maxServiceNameLength + '/'.length + 10;

export interface UnitName {
  service: string;
  number: number;
}

export function isServiceName(name: string): boolean {
  return name.length <= maxServiceNameLength && serviceNamePattern.test(name);
}

/** Whether a formula may give a relation this name. The beginnings `ensemble` and `juju` are reserved. */
export function isRelationName(name: string): boolean {
  return isServiceName(name) && !name.startsWith('ensemble') && !name.startsWith('juju');
}

/** Parses `wordpress/1` (EN-2); null if the text is not `<service>/<number>`, or its number has leading zeros. */
export function parseUnitName(name: string): UnitName | null {
  if (name.length > maxUnitNameLength) return null;
  const [service = '', digits = '', ...rest] = name.split('/');
  if (rest.length > 0 || !isServiceName(service) || !unitNumberPattern.test(digits)) return null;
  return { service, number: Number(digits) };
}

export function isUnitName(name: string): boolean {
  return parseUnitName(name) !== null;
}

/** Sorts unit names by service and then by number. */
export function compareUnits(one: string, other: string): number {
  const [a, b] = [parseUnitName(one), parseUnitName(other)];
  if (a === null || b === null || a.service !== b.service) return one < other ? -1 : Number(one > other);
  return a.number - b.number;
}

/** Returns the name of a unit's folder, such as `wordpress-1`. */
export function unitFolderName(unit: string): string {
  return unit.replace('/', '-');
}
