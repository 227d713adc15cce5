'use client';

import { CheckCheck, CircleX, Droplet, Gauge, Scale, Undo2 } from 'lucide-react';
import type { ReactNode } from 'react';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { Checkbox } from '#app/_ui/checkbox.tsx';
import { ControlRow, FieldError } from '#app/_ui/field.tsx';
import { Select } from '#app/_ui/select.tsx';
import { Switch } from '#app/_ui/switch.tsx';
import type { SentGates } from './definition.ts';
import type { FormFaults } from './faults.ts';
import { InlineNumber } from './inline-number.tsx';
import type { RolloutForm } from './rollout-form.ts';

export interface GateSentencesProps {
  form: RolloutForm;
  set(change: Partial<RolloutForm>): void;
  faults: FormFaults;
}

interface GateProps {
  gates: SentGates;
  put(change: Partial<SentGates>): void;
  faults: FormFaults;
}

/** The limits and gates of every ring, as sentences with numbers that can be changed. */
export function GateSentences({ form, set, faults }: GateSentencesProps) {
  const { t } = useTranslation('rollouts');
  const props = {
    gates: form.gates,
    put: (change: Partial<SentGates>) => set({ gates: { ...form.gates, ...change } }),
    faults,
  };
  return (
    <div>
      <h3 className="mb-2 text-13 font-semibold">{t('new.gates')}</h3>
      <div className="grid gap-x-8 gap-y-2.5 md:grid-cols-2">
        <Pace {...props} />
        <Soak {...props} />
        <Errors {...props} />
        <Success {...props} />
        {form.change.kind === 'run' ? null : <Compare {...props} />}
        {form.change.kind === 'run' ? null : <OnHalt form={form} set={set} />}
      </div>
    </div>
  );
}

interface SentenceProps {
  icon: ReactNode;
  title: string;
  /** Turns the gate on and off; undefined for what is always on. */
  toggle?: { on: boolean; set(on: boolean): void };
  faults?: ReturnType<FormFaults['below']>;
  children: ReactNode;
}

function Sentence({ icon, title, toggle, faults = [], children }: SentenceProps) {
  return (
    <div className="flex min-w-0 gap-2.5">
      <span className="mt-1 text-ink-2 [&_svg]:size-4">{icon}</span>
      <div className="min-w-0 flex-1 leading-6 text-ink-2">
        {toggle === undefined ? null : (
          <Checkbox
            aria-label={title}
            checked={toggle.on}
            onCheckedChange={(checked) => toggle.set(checked === true)}
            className="me-1.5 -mt-0.5"
          />
        )}
        <strong className="me-1.5 font-semibold text-ink">{title}</strong>
        {children}
        {faults.map((fault) => (
          <FieldError key={fault.path + fault.code}>{fault.message}</FieldError>
        ))}
      </div>
    </div>
  );
}

function Pace({ gates, put, faults }: GateProps) {
  const { t } = useTranslation('rollouts');
  const { inFlight } = gates;
  const isShare = 'percent' in inFlight;
  const number = (
    <InlineNumber
      label={t('new.pace.limit')}
      value={isShare ? inFlight.percent : inFlight.count}
      onChange={(value) => put({ inFlight: isShare ? { percent: value } : { count: value } })}
    />
  );
  return (
    <Sentence icon={<Gauge aria-hidden />} title={t('new.pace')} faults={faults.below('/gates/inFlight')}>
      <Trans text={t(isShare ? 'new.pace.share' : 'new.pace.count')} tags={{ value: number }} />{' '}
      <ControlRow control={<Switch checked={gates.ramp} onCheckedChange={(ramp) => put({ ramp })} />}>
        {t('new.pace.ramp')}
      </ControlRow>
    </Sentence>
  );
}

function Soak({ gates, put, faults }: GateProps) {
  const { t } = useTranslation('rollouts');
  const found = [...faults.below('/gates/soakSeconds'), ...faults.below('/gates/settleSeconds')];
  const minutes = (field: 'soakSeconds' | 'settleSeconds', label: string) => (
    <InlineNumber
      label={label}
      unit={60}
      value={gates[field]}
      onChange={(value) => put({ [field]: Math.round(value) })}
    />
  );
  return (
    <Sentence icon={<Droplet aria-hidden />} title={t('new.soak')} faults={found}>
      <Trans
        text={t('new.soak.sentence')}
        tags={{
          soak: minutes('soakSeconds', t('new.soak.minutes')),
          settle: minutes('settleSeconds', t('new.soak.settle')),
        }}
      />
    </Sentence>
  );
}

const usual = {
  errors: { percent: 5, atLeast: 20 },
  success: { percent: 95, atLeast: 1 },
  compare: { minEffectPercent: 1, minPairs: 50, onTooFew: 'goOn' },
} as const;

function Errors({ gates, put, faults }: GateProps) {
  const { t } = useTranslation('rollouts');
  const { errors } = gates;
  return (
    <Sentence
      icon={<CircleX aria-hidden />}
      title={t('new.errors')}
      toggle={{ on: errors !== null, set: (on) => put({ errors: on ? usual.errors : null }) }}
      faults={faults.below('/gates/errors')}
    >
      {errors === null ? (
        t('new.errors.off')
      ) : 'count' in errors ? (
        <Trans
          text={t('new.errors.count')}
          tags={{
            count: (
              <InlineNumber
                label={t('new.errors.failures')}
                value={errors.count}
                onChange={(count) => put({ errors: { count } })}
              />
            ),
          }}
        />
      ) : (
        <Trans
          text={t('new.errors.share')}
          tags={{
            percent: (
              <InlineNumber
                label={t('new.errors.percent')}
                value={errors.percent}
                onChange={(percent) => put({ errors: { ...errors, percent } })}
              />
            ),
            atLeast: (
              <InlineNumber
                label={t('new.errors.atLeast')}
                value={errors.atLeast}
                onChange={(atLeast) => put({ errors: { ...errors, atLeast } })}
              />
            ),
          }}
        />
      )}
    </Sentence>
  );
}

function Success({ gates, put, faults }: GateProps) {
  const { t } = useTranslation('rollouts');
  const { success } = gates;
  const bake = (
    <InlineNumber
      label={t('new.bake.minutes')}
      unit={60}
      value={gates.bakeSeconds}
      onChange={(value) => put({ bakeSeconds: Math.round(value) })}
    />
  );
  return (
    <Sentence
      icon={<CheckCheck aria-hidden />}
      title={t('new.success')}
      toggle={{ on: success !== null, set: (on) => put({ success: on ? usual.success : null }) }}
      faults={[...faults.below('/gates/success'), ...faults.below('/gates/bakeSeconds')]}
    >
      <Trans
        text={t(success === null ? 'new.success.off' : 'new.success.sentence')}
        tags={{
          bake,
          ...(success !== null && {
            percent: (
              <InlineNumber
                label={t('new.success.percent')}
                value={success.percent}
                onChange={(percent) => put({ success: { ...success, percent } })}
              />
            ),
          }),
        }}
      />
    </Sentence>
  );
}

function Compare({ gates, put, faults }: GateProps) {
  const { t } = useTranslation('rollouts');
  const { compare } = gates;
  return (
    <Sentence
      icon={<Scale aria-hidden />}
      title={t('new.compare')}
      toggle={{ on: compare !== null, set: (on) => put({ compare: on ? usual.compare : null }) }}
      faults={faults.below('/gates/compare')}
    >
      {compare === null ? (
        t('new.compare.off')
      ) : (
        <Trans
          text={t('new.compare.sentence')}
          tags={{
            effect: (
              <InlineNumber
                label={t('new.compare.effect')}
                value={compare.minEffectPercent}
                onChange={(minEffectPercent) => put({ compare: { ...compare, minEffectPercent } })}
              />
            ),
            pairs: (
              <InlineNumber
                label={t('new.compare.pairs')}
                value={compare.minPairs}
                onChange={(minPairs) => put({ compare: { ...compare, minPairs } })}
              />
            ),
          }}
        />
      )}
    </Sentence>
  );
}

function OnHalt({ form, set }: Pick<GateSentencesProps, 'form' | 'set'>) {
  const { t } = useTranslation('rollouts');
  return (
    <Sentence icon={<Undo2 aria-hidden />} title={t('new.onHalt')}>
      <span className="mt-1 flex flex-wrap gap-2">
        <Select
          aria-label={t('new.onHalt')}
          className="w-auto"
          value={form.onHalt}
          onChange={({ target }) => set({ onHalt: target.value === 'revert' ? 'revert' : 'pause' })}
          options={(['pause', 'revert'] as const).map((value) => ({ value, label: t(`new.onHalt.${value}`) }))}
        />
        <Select
          aria-label={t('new.onFailure')}
          className="w-auto"
          value={form.onStepFailure}
          onChange={({ target }) => set({ onStepFailure: target.value === 'revert' ? 'revert' : 'leave' })}
          options={(['leave', 'revert'] as const).map((value) => ({ value, label: t(`new.onFailure.${value}`) }))}
        />
      </span>
    </Sentence>
  );
}
