import { z } from 'zod';
import { commandNames } from './manifest.ts';

const digits = (most: number) =>
  z
    .string()
    .regex(new RegExp(`^\\d{1,${most}}$`))
    .transform(Number);

/** The run of a command that an output belongs to: the query of `POST /logs/{extension}`. */
export const outputQuery = z.object({ command: z.enum(commandNames), attempt: digits(9), sequence: digits(15) });

/** The archives that operators wait for: `GET /log-requests`. */
export const logRequests = z.looseObject({
  requests: z.array(
    z.looseObject({
      id: z.string(),
      /** `<ProviderNamespace>.<Type>`: the log folders of all its versions, uninstalled ones included. */
      handler: z.string(),
    }),
  ),
});
export type LogRequests = z.output<typeof logRequests>;
