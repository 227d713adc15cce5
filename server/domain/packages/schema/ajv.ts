import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

/** A validator for draft 2020-12 that fetches nothing: a reference outside the schema is an error. */
export function newAjv(): Ajv2020 {
  const ajv = new Ajv2020({
    allErrors: true,
    // Keywords of other vocabularies are annotations, as the draft specifies.
    strict: false,
    // Properties of the prototype (`constructor`) are not properties of the settings.
    ownProperties: true,
    logger: false,
  });
  addFormats.default(ajv);
  return ajv;
}
