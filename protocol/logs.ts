import { z } from 'zod';
import { commandNames } from './manifest.ts';

const digits = (most: number) =>
  z
    .string()
    .regex(new RegExp(`^\\d{1,${most}}$`))
    .transform(Number);

/** Which run of a command an output is of: what follows the `?` of `POST /logs/{extension}`. */
export const outputQuery = z.object({ command: z.enum(commandNames), attempt: digits(9), sequence: digits(15) });

/** What operators wait for: `GET /log-requests`. */
export const logRequests = z.looseObject({
  requests: z.array(
    z.looseObject({
      id: z.string(),
      /** `<ProviderNamespace>.<Type>`: the log folders of all its versions, also of those that are uninstalled. */
      handler: z.string(),
    }),
  ),
});
export type LogRequests = z.output<typeof logRequests>;
