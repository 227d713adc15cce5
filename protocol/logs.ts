import { z } from 'zod';
import { commandNames } from './manifest.ts';

const digits = (most: number) =>
  z
    .string()
    .regex(new RegExp(`^\\d{1,${most}}$`))
    .transform(Number);

/** The query of `POST /logs/{extension}`, which identifies the command run that produced the output. */
export const outputQuery = z.object({ command: z.enum(commandNames), attempt: digits(9), sequence: digits(15) });

/** The response to `GET /log-requests`: archives that operators are waiting for. */
export const logRequests = z.looseObject({
  requests: z.array(
    z.looseObject({
      id: z.string(),
      /**
       * The handler, as `<ProviderNamespace>.<Type>`. The agent sends the log folders of all its versions, including
       * uninstalled versions.
       */
      handler: z.string(),
    }),
  ),
});
export type LogRequests = z.output<typeof logRequests>;
