import { answer } from '#server/platform/worker-task.ts';
import { schemaFaults } from './schema-faults.ts';
import { settingFaults } from './setting-faults.ts';

/** Halves by their names in the settings, to read or to check; the answer's paths start with the name. */
export type SchemaTask = {
  half: 'publicSettings' | 'protectedSettings';
  schema: unknown;
  /** Absent: the schema itself is to be checked. */
  settings?: { value: unknown };
}[];

await answer((tasks: SchemaTask) =>
  tasks.flatMap(({ half, schema, settings }) => {
    const found =
      settings === undefined
        ? schemaFaults(schema)
        : settingFaults(schema, settings.value, half === 'protectedSettings');
    return found.map((fault) => ({ ...fault, path: `/${half}${fault.path}` }));
  }),
);
