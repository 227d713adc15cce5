'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import type { Role } from '#app/_shell/reader.tsx';
import { Checkbox } from '#app/_ui/checkbox.tsx';
import { ControlRow, Field } from '#app/_ui/field.tsx';
import { Select } from '#app/_ui/select.tsx';
import { type ChosenNamespaces, NamespacePicker } from './namespace-picker.tsx';
import { mayHoldScripts } from './role-cell.tsx';

export const roles: readonly Role[] = ['viewer', 'operator', 'publisher', 'admin'];

/** A role, for publishers their namespaces, and whether the holder has the grant `scripts`. */
export interface RoleChoice extends ChosenNamespaces {
  role: Role;
  scripts: boolean;
}

export interface RoleFieldsProps {
  value: RoleChoice;
  onChange(value: RoleChoice): void;
  /** The server's error about the namespaces. */
  error?: string | undefined;
}

/** The role of a member, token or invitation. */
export function RoleField({ value, onChange }: { value: Role; onChange(role: Role): void }) {
  const { t } = useTranslation(['settings', 'common']);
  return (
    <Field label={t('settings:role')} hint={t(`settings:role.${value}.what`)}>
      <Select
        value={value}
        onChange={(event) => {
          const role = roles.find((candidate) => candidate === event.target.value);
          if (role !== undefined) onChange(role);
        }}
        options={roles.map((role) => ({ value: role, label: t(`common:role.${role}`) }))}
      />
    </Field>
  );
}

/** The role of a member or token, namespaces for publishers, and the grant `scripts`. */
export function RoleFields({ value, onChange, error }: RoleFieldsProps) {
  const { t } = useTranslation('settings');
  const { role } = value;
  return (
    <>
      <RoleField value={role} onChange={(chosen) => onChange({ ...value, role: chosen })} />
      {role === 'publisher' ? (
        <NamespacePicker value={value} onChange={(changed) => onChange({ ...value, ...changed })} error={error} />
      ) : null}
      {mayHoldScripts(role) ? (
        <ControlRow
          control={
            <Checkbox
              checked={value.scripts}
              onCheckedChange={(checked) => onChange({ ...value, scripts: checked === true })}
            />
          }
          hint={t(`scripts.${role}.what`)}
        >
          {t(`scripts.${role}`)}
        </ControlRow>
      ) : null}
    </>
  );
}
