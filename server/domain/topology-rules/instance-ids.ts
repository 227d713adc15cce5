import { randomLength } from './names.ts';

/** A role in its cloud service. */
export interface RoleRef {
  service: string;
  role: string;
}

/** An instance id as read. The older form names only the cloud service, so `role` is null. */
export interface InstanceRef {
  service: string;
  role: string | null;
}

const random = `[a-z0-9]{${randomLength}}`;

/** Formats the instance id of a role (JU-12). */
export const formatInstanceId = ({ service, role }: RoleRef): string => `${service}-${role}`;

/**
 * Parses an instance id of a model; null if it belongs to another model or has another form (JU-12, JU-13). Both random
 * parts have a fixed length and the role a fixed beginning, because the rest of `juju-azure-1-k3j9x0a1bz` would
 * otherwise be a role of the model `azure`.
 */
export function parseInstanceId(model: string, id: string): InstanceRef | null {
  const prefix = `juju-${model}-`;
  if (!id.startsWith(prefix)) return null;
  const match = instancePattern.exec(id.slice(prefix.length));
  if (match === null) return null;
  const [, service = '', role = null] = match;
  return { service: prefix + service, role };
}

const instancePattern = new RegExp(`^(${random})(?:-(juju${random}))?$`);

/** Whether a cloud service's name is one of the model's (JU-13). */
export const isServiceOf = (model: string, service: string): boolean => parseInstanceId(model, service)?.role === null;

/** The role that an instance id names, or why it names none. */
export type RoleLookup =
  | { ref: RoleRef }
  | { refusal: 'instance_unknown' }
  | { refusal: 'legacy_instance_ambiguous'; params: { service: string; roles: number } };

/**
 * Returns the role that an instance id of a model names. An id of the older form names the only role of its cloud
 * service, and is rejected if there are several (JU-12). `rolesOf` returns the roles of a cloud service of the model.
 */
export function findRole(model: string, id: string, rolesOf: (service: string) => readonly string[]): RoleLookup {
  const parsed = parseInstanceId(model, id);
  if (parsed === null) return { refusal: 'instance_unknown' };
  const { service } = parsed;
  const roles = rolesOf(service);
  if (parsed.role !== null)
    return roles.includes(parsed.role) ? { ref: { service, role: parsed.role } } : { refusal: 'instance_unknown' };
  const [only] = roles;
  if (only === undefined) return { refusal: 'instance_unknown' };
  if (roles.length === 1) return { ref: { service, role: only } };
  return { refusal: 'legacy_instance_ambiguous', params: { service, roles: roles.length } };
}

/** Instances in the order of the requested ids; an id without an instance has null in its place. */
export type InstanceList<T> = { instances: (T | null)[]; partial: boolean } | { refusal: 'no_instances' };

/** Returns instances in the requested order (JU-14). If none is found, that is an error, not a list of gaps. */
export function listInOrder<T>(ids: readonly string[], find: (id: string) => T | null): InstanceList<T> {
  const instances = ids.map(find);
  const found = instances.filter((instance) => instance !== null).length;
  return found === 0 ? { refusal: 'no_instances' } : { instances, partial: found < ids.length };
}
