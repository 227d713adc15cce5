import type { ValidateFunction } from 'ajv';
import type { SettingsSchema } from '#db/schema/index.ts';
import { answerEach } from '#server/platform/kept-worker.ts';
import { compileSchema, settingFaults } from './setting-faults.ts';

/** The values of one or both halves of the settings, by the name of the half. */
export type HalvesToCheck = { [half in keyof SettingsSchema]: unknown };

answerEach((schema: SettingsSchema) => {
  const compiled = new Map<string, ValidateFunction>(
    Object.entries(schema).map(([half, part]) => [half, compileSchema(part)]),
  );
  return (values: HalvesToCheck) =>
    Object.entries(values).flatMap(([half, value]) => {
      const validate = compiled.get(half);
      const faults = validate === undefined ? [] : settingFaults(validate, value, half === 'protectedSettings');
      return faults.map((fault) => ({ ...fault, path: `/${half}${fault.path}` }));
    });
});
