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

/** Where a handler finds and leaves its files (AZ-G1). */
export type HandlerEnvironment = z.output<typeof environment>;

export const handlerEnvironmentFile = arrayOfOne(
  anyCase(z.object({ version: fileVersion, handlerEnvironment: anyCase(environment) })),
).transform(({ handlerEnvironment }): HandlerEnvironment => handlerEnvironment);

/** The contents of HandlerEnvironment.json. */
export function writeHandlerEnvironment(folders: HandlerEnvironment): string {
  return `${JSON.stringify([{ version: 1.0, handlerEnvironment: folders }], null, 2)}\n`;
}
