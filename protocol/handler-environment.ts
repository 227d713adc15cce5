import { z } from 'zod';
import { anyCase } from './any-case.ts';
import { arrayOfOne, fileVersion } from './file.ts';

export const handlerEnvironmentFileName = 'HandlerEnvironment.json';

const folder = z.string().min(1);
const environment = z.object({
  logFolder: folder,
  configFolder: folder,
  statusFolder: folder,
  heartbeatFile: folder,
});

/** A handler's folders and files (AZ-G1). */
export type HandlerEnvironment = z.output<typeof environment>;

export const handlerEnvironmentFile = arrayOfOne(
  anyCase(z.object({ version: fileVersion, handlerEnvironment: anyCase(environment) })),
).transform(({ handlerEnvironment }): HandlerEnvironment => handlerEnvironment);

/**
 * Properties of `handlerEnvironment` that handlers for the stock agent expect in addition to the documented properties.
 */
export interface FieldEnvironment {
  /** Folder for events that the handler writes and the stock agent collects. */
  eventsFolder: string;
  deploymentid: string;
  rolename: string;
  instance: string;
}

/** Returns the contents of HandlerEnvironment.json: a list of one element. */
export function writeHandlerEnvironment(name: string, environment: HandlerEnvironment & FieldEnvironment): string {
  const text = JSON.stringify([{ name, version: 1, handlerEnvironment: environment }], null, 2);
  // Handlers copy the version into their statuses as text, where it must be "1.0".
  return `${text.replace(/^( {4}"version": 1),$/m, '$1.0,')}\n`;
}
