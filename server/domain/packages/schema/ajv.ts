import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

/** Creates a validator for draft 2020-12 that fetches nothing: references to anything outside the schema are errors. */
export function newAjv(): Ajv2020 {
  const ajv = new Ajv2020({
    allErrors: true,
    // Keywords of other vocabularies are annotations, as the draft specifies.
    strict: false,
    // Inherited properties such as `constructor` do not count as settings.
    ownProperties: true,
    logger: false,
  });
  addFormats.default(ajv);
  return ajv;
}
