import type { PortProtocol } from './words.ts';

/** Number of characters in the random part of a name. */
export const randomLength = 10;

/** Number of random names that are tried before the request fails (JU-3). */
export const maxDraws = 10;

/** Maximum length of a model's name, so that the names of its cloud services have at most 63 characters (JU-30). */
export const maxModelName = 47;

/** The name of the availability set of every cloud service (JU-6). */
export const availabilitySetName = 'juju';

const modelNamePattern = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;

/** Whether a text can be the name of a model. */
export const isModelName = (name: string): boolean => name.length <= maxModelName && modelNamePattern.test(name);

export const affinityGroupName = (model: string): string => `juju-${model}-ag`;
export const networkName = (model: string): string => `juju-${model}-vnet`;

/** The container of the storage account in which the portal keeps what belongs to a model. */
export const storageContainerName = (model: string): string => `juju-${model}-private`;

export const cloudServiceName = (model: string, random: string): string => `juju-${model}-${random}`;
export const roleName = (random: string): string => `juju${random}`;

/** The first deployment of a cloud service has the number 2, and numbers are never used again. */
export const firstDeployment = 2;
export const deploymentName = (service: string, number: number): string => `${service}-v${number}`;

export const machineName = (model: string, machine: number): string => `${model}-${machine}`;

/** The name of a load-balancing set: all endpoints of a deployment with this protocol and port. */
export const balancedSetName = (protocol: PortProtocol, port: number): string => `${protocol}${port}-${port}`;

const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** Returns the random part of a name. It has no hyphen. `below` returns a random integer below its argument. */
export const drawName = (below: (limit: number) => number): string =>
  Array.from({ length: randomLength }, () => letters[below(letters.length)]).join('');

/**
 * Draws names until one is free, at most as often as `draws` states. Returns the name and how many draws are left;
 * null if every name was taken.
 */
export function drawFreeName(
  nameOf: (random: string) => string,
  isTaken: (name: string) => boolean,
  draw: () => string,
  draws = maxDraws,
): { name: string; drawsLeft: number } | null {
  for (let left = draws - 1; left >= 0; left -= 1) {
    const name = nameOf(draw());
    if (!isTaken(name)) return { name, drawsLeft: left };
  }
  return null;
}
