'use client';

import { Plus, X } from 'lucide-react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { localTime } from '#app/_lib/local-time.ts';
import { Button } from '#app/_ui/button.tsx';
import { Field } from '#app/_ui/field.tsx';
import { Input } from '#app/_ui/input.tsx';
import type { FreezeForm, RulesFieldsProps } from './rules-form.ts';

const dayMs = 86_400_000;

function newFreeze(now: Date): FreezeForm {
  const to = new Date(now.getTime() + dayMs);
  return { key: crypto.randomUUID(), from: localTime(now), to: localTime(to), reason: '', exempt: [] };
}

/** The times in which no rollout begins a step. */
export function FreezeFields({ form: { freezes }, edit, faultOf }: RulesFieldsProps) {
  const { t } = useTranslation('settings');
  const change = (index: number, values: Partial<FreezeForm>) =>
    edit({ freezes: freezes.map((freeze, at) => (at === index ? { ...freeze, ...values } : freeze)) });
  return (
    <fieldset className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-3">
      <legend className="mb-1 font-medium">{t('rollouts.freezes')}</legend>
      <p className="max-w-[72ch] text-12 text-ink-3">{t('rollouts.freezes.hint')}</p>
      {freezes.map((freeze, index) => (
        <FreezeRow
          key={freeze.key}
          freeze={freeze}
          faultOf={(field) => faultOf(`/freezes/${index}/${field}`)}
          onChange={(values) => change(index, values)}
          onRemove={() => edit({ freezes: freezes.filter((_, at) => at !== index) })}
        />
      ))}
      <div>
        <Button onClick={() => edit({ freezes: [...freezes, newFreeze(new Date())] })}>
          <Plus aria-hidden className="size-3.5" />
          {t('rollouts.freezes.add')}
        </Button>
      </div>
    </fieldset>
  );
}

interface FreezeRowProps {
  freeze: FreezeForm;
  faultOf(field: 'from' | 'to' | 'reason'): string | undefined;
  onChange(values: Partial<FreezeForm>): void;
  onRemove(): void;
}

function FreezeRow({ freeze, faultOf, onChange, onRemove }: FreezeRowProps) {
  const { t } = useTranslation('settings');
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] items-end gap-3 sm:grid-cols-[auto_auto_minmax(0,1fr)_auto]">
      <Field label={t('rollouts.freezes.from')} error={faultOf('from')}>
        <Input type="datetime-local" value={freeze.from} onChange={(event) => onChange({ from: event.target.value })} />
      </Field>
      <Field label={t('rollouts.freezes.to')} error={faultOf('to')}>
        <Input type="datetime-local" value={freeze.to} onChange={(event) => onChange({ to: event.target.value })} />
      </Field>
      <Field label={t('rollouts.freezes.reason')} error={faultOf('reason')}>
        <Input
          value={freeze.reason}
          maxLength={1_000}
          autoComplete="off"
          onChange={(event) => onChange({ reason: event.target.value })}
        />
      </Field>
      <Button
        aria-label={t('rollouts.freezes.remove', { reason: freeze.reason })}
        className="max-sm:justify-self-end"
        onClick={onRemove}
      >
        <X aria-hidden className="size-3.5" />
      </Button>
    </div>
  );
}
