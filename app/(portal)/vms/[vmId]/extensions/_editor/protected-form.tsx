import type { RJSFSchema } from '@rjsf/utils';
import type { ReactNode } from 'react';
import type { FormPlan } from '#app/_ui/schema-form/bounded.ts';
import type { ExtensionView } from '#server/domain/goal-states/index.ts';
import type { ProtectedDraft } from './draft.ts';

/** How protected settings are entered: field by field, as one JSON value, or not at all. */
export type ProtectedForm = { kind: 'fields'; plan: FormPlan } | { kind: 'json' } | { kind: 'none' };

export interface ProtectedSettingsProps {
  form: ProtectedForm;
  present: ExtensionView['protectedSettings'];
  value: ProtectedDraft;
  onChange(value: ProtectedDraft): void;
  /** A sentence that says why stored settings must be replaced. */
  mustReplace: string | undefined;
  /**
   * Returns the error of the protected setting with this name; for an empty name, the error of the protected settings
   * as a whole.
   */
  faultAt(name: string): string | undefined;
}

/** A protected setting in the form. */
export interface ProtectedField {
  name: string;
  title: string | undefined;
  required: boolean;
  /** Undefined if the schema does not define the setting. */
  schema: RJSFSchema | undefined;
}

/** Returns the fields of the form; if the form has no field for each setting, one field for all settings. */
export function fieldsOf(form: ProtectedForm): (ProtectedField & { schema: RJSFSchema })[] {
  if (form.kind !== 'fields') return [{ name: '', title: undefined, required: false, schema: {} }];
  const { properties = {}, required = [] } = form.plan.schema;
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    title: typeof schema === 'object' && schema.title ? schema.title : name,
    required: required.includes(name),
    schema: typeof schema === 'object' ? schema : {},
  }));
}

/** A box shown in place of a field's input. */
export function ProtectedBox({ children }: { children: ReactNode }) {
  return (
    <div className="flex min-h-10 flex-wrap items-center gap-2 rounded-md bg-sunken py-1 ps-3 pe-[5px] shadow-hair">
      {children}
    </div>
  );
}
