'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Checkbox } from '#app/_ui/checkbox.tsx';
import { ControlRow, Field } from '#app/_ui/field.tsx';
import { Input } from '#app/_ui/input.tsx';
import { Select } from '#app/_ui/select.tsx';
import type { RulesFieldsProps } from './rules-form.ts';

const roles = ['operator', 'admin'] as const;

/** From how many members on a rollout needs approval, by whom, and whether automatic upgrades need it too. */
export function ApprovalFields({ form, edit, faultOf }: RulesFieldsProps) {
  const { t } = useTranslation(['settings', 'common']);
  return (
    <fieldset className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-3">
      <legend className="mb-2 font-medium">{t('settings:rollouts.approval')}</legend>
      <ControlRow
        control={
          <Checkbox checked={form.approves} onCheckedChange={(checked) => edit({ approves: checked === true })} />
        }
        hint={t('settings:rollouts.approval.hint')}
      >
        {t('settings:rollouts.approval.on')}
      </ControlRow>
      {form.approves ? (
        <>
          <div className="grid grid-cols-[minmax(0,1fr)] gap-3 sm:grid-cols-3">
            <Field label={t('settings:rollouts.approval.from')} error={faultOf('/approval/fromMembers')}>
              <Input
                type="number"
                min={1}
                value={form.fromMembers}
                onChange={(event) => edit({ fromMembers: event.target.value })}
              />
            </Field>
            <Field label={t('settings:rollouts.approval.people')} error={faultOf('/approval/people')}>
              <Select
                value={form.people}
                onChange={(event) => edit({ people: event.target.value })}
                options={['1', '2', '3'].map((value) => ({ value, label: value }))}
              />
            </Field>
            <Field label={t('settings:rollouts.approval.role')} error={faultOf('/approval/role')}>
              <Select
                value={form.role}
                onChange={(event) => edit({ role: event.target.value === 'admin' ? 'admin' : 'operator' })}
                options={roles.map((role) => ({ value: role, label: t(`common:role.${role}`) }))}
              />
            </Field>
          </div>
          <ControlRow
            control={
              <Checkbox checked={form.automatic} onCheckedChange={(checked) => edit({ automatic: checked === true })} />
            }
            hint={t('settings:rollouts.approval.automatic.hint')}
          >
            {t('settings:rollouts.approval.automatic')}
          </ControlRow>
        </>
      ) : null}
    </fieldset>
  );
}
