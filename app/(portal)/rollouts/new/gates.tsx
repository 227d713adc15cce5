'use client';

import { CheckCheck, CircleX, Droplet, Gauge, Scale } from 'lucide-react';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { ControlRow } from '#app/_ui/field.tsx';
import { Switch } from '#app/_ui/switch.tsx';
import type { SentGates } from './definition.ts';
import type { FormFaults } from './faults.ts';
import { Sentence } from './gate-sentence.tsx';
import { InlineNumber } from './inline-number.tsx';

export interface GateProps {
  gates: SentGates;
  put(change: Partial<SentGates>): void;
  /** Faults below this path are those of the gates, such as `/gates`. */
  path: string;
  faults: FormFaults;
  /** Whether a runbook runs, so that VMs are not compared. */
  isRun?: boolean;
  /** Whether only a lower limit is accepted, so that everything else is shown as it is. */
  onlyLower?: boolean;
}

export const sentencesGrid = 'grid gap-x-8 gap-y-2.5 md:grid-cols-2';

/** The sentences of one set of gates. */
export function Gates(props: GateProps) {
  return (
    <>
      <Pace {...props} />
      <fieldset disabled={props.onlyLower} className="contents">
        <Soak {...props} />
        <Errors {...props} />
        <Success {...props} />
        {props.isRun ? null : <Compare {...props} />}
      </fieldset>
    </>
  );
}

function Pace({ gates, put, path, faults, onlyLower }: GateProps) {
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
    <Sentence icon={<Gauge aria-hidden />} title={t('new.pace')} faults={faults.below(`${path}/inFlight`)}>
      <Trans text={t(isShare ? 'new.pace.share' : 'new.pace.count')} tags={{ value: number }} />{' '}
      <ControlRow
        control={<Switch disabled={onlyLower} checked={gates.ramp} onCheckedChange={(ramp) => put({ ramp })} />}
      >
        {t('new.pace.ramp')}
      </ControlRow>
    </Sentence>
  );
}

function Soak({ gates, put, path, faults, isRun }: GateProps) {
  const { t } = useTranslation('rollouts');
  const found = [...faults.below(`${path}/soakSeconds`), ...faults.below(`${path}/settleSeconds`)];
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
        text={t(isRun ? 'new.soak.run' : 'new.soak.sentence')}
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

function Errors({ gates, put, path, faults }: GateProps) {
  const { t } = useTranslation('rollouts');
  const { errors } = gates;
  return (
    <Sentence
      icon={<CircleX aria-hidden />}
      title={t('new.errors')}
      toggle={{ on: errors !== null, set: (on) => put({ errors: on ? usual.errors : null }) }}
      faults={faults.below(`${path}/errors`)}
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

function Success({ gates, put, path, faults }: GateProps) {
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
      faults={[...faults.below(`${path}/success`), ...faults.below(`${path}/bakeSeconds`)]}
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

function Compare({ gates, put, path, faults }: GateProps) {
  const { t } = useTranslation('rollouts');
  const { compare } = gates;
  return (
    <Sentence
      icon={<Scale aria-hidden />}
      title={t('new.compare')}
      toggle={{ on: compare !== null, set: (on) => put({ compare: on ? usual.compare : null }) }}
      faults={faults.below(`${path}/compare`)}
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
