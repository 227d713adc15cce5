import type { SettingsSchema } from '#db/schema/index.ts';
import { answer } from '#server/platform/worker-task.ts';
import { schemaFaults } from './schema-faults.ts';

await answer((schema: SettingsSchema) =>
  Object.entries(schema).flatMap(([half, part]) =>
    schemaFaults(part).map((fault) => ({ ...fault, path: `/${half}${fault.path}` })),
  ),
);
