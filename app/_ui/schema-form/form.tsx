'use client';

import type { FormProps } from '@rjsf/core';
// Imported directly, because the package's index would also load its validator.
import Form from '@rjsf/core/lib/components/Form.js';
import type { ValidatorType } from '@rjsf/utils';
import { type FocusEvent, useMemo } from 'react';
import type { FormPlan } from './bounded.ts';
import { BooleanField, JsonOnlyField, NumberField, StringField } from './fields.tsx';
import { type Surroundings, SurroundingsContext } from './surroundings.ts';
import { ArrayFieldItemTemplate, ArrayFieldTemplate, FieldTemplate, ObjectFieldTemplate } from './templates.tsx';

export type SettingsObject = Record<string, unknown>;

export interface SchemaFormProps extends Surroundings {
  plan: FormPlan;
  value: SettingsObject;
  onChange(value: SettingsObject): void;
  /** Called with the JSON pointer of the setting that has the focus, or an empty string if no setting has the focus. */
  onActive?(pointer: string): void;
  disabled?: boolean;
}

/**
 * Accepts everything, because only the portal validates values. A `FormPlan` has no alternatives, so the library never
 * has to choose one.
 */
const validator: ValidatorType = {
  validateFormData: () => ({ errors: [], errorSchema: {} }),
  isValid: () => true,
  rawValidation: () => ({ errors: [] }),
};

const fields = { StringField, NumberField, BooleanField, JsonOnly: JsonOnlyField };
const templates = { FieldTemplate, ObjectFieldTemplate, ArrayFieldTemplate, ArrayFieldItemTemplate };
/** Keeps the library from filling in defaults, so that unset settings stay unset. */
const defaults: FormProps['experimental_defaultFormStateBehavior'] = {
  emptyObjectFields: 'skipEmptyDefaults',
  arrayMinItems: { populate: 'never' },
  constAsDefaults: 'never',
};

/**
 * A form built from a publisher's schema. It keeps no state: it gets its values from the page and reports each change
 * while the reader types.
 */
export function SchemaForm({ plan, value, onChange, onActive, disabled, faultAt, wasAt, onEditJson }: SchemaFormProps) {
  const surroundings = useMemo(() => ({ faultAt, wasAt, onEditJson }), [faultAt, wasAt, onEditJson]);
  const uiSchema = useMemo(() => ({ ...plan.uiSchema, 'ui:submitButtonOptions': { norender: true } }), [plan]);
  const watchFocus = (event: FocusEvent) => {
    const field = event.type === 'focus' ? event.target.closest('[data-at]') : null;
    onActive?.(field?.getAttribute('data-at') ?? '');
  };
  return (
    <SurroundingsContext value={surroundings}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: listens to the fields inside, but is not interactive */}
      <div onFocus={watchFocus} onBlur={watchFocus}>
        <Form
          tagName="div"
          idPrefix="setting"
          schema={plan.schema}
          uiSchema={uiSchema}
          formData={value}
          validator={validator}
          noValidate
          showErrorList={false}
          disabled={disabled}
          fields={fields}
          templates={templates}
          experimental_defaultFormStateBehavior={defaults}
          onChange={({ formData }, id) => {
            // A change without an id comes from the library itself, which fills in values it considers missing.
            if (id !== undefined) onChange(cleaned(formData) as SettingsObject);
          }}
        />
      </div>
    </SurroundingsContext>
  );
}

/** Converts form data to JSON. Removes emptied settings, and turns a new list entry into an empty string. */
function cleaned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((entry) => (entry === undefined || entry === null ? '' : cleaned(entry)));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, entry]) => (entry === undefined ? [] : [[name, cleaned(entry)]])),
  );
}
