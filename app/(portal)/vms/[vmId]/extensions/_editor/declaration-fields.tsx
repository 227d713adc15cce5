'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Checkbox } from '#app/_ui/checkbox.tsx';
import { cn } from '#app/_ui/cn.ts';
import { ControlRow, Field, FieldError } from '#app/_ui/field.tsx';
import { Input } from '#app/_ui/input.tsx';
import { Select } from '#app/_ui/select.tsx';
import { cycleThrough, type Dependent } from '#protocol/dependencies.ts';
import { commands, type ExtensionDraft, type HandlerCommand, seconds } from './draft.ts';
import type { Faults } from './use-faults.ts';

export interface DeclarationFieldsProps {
  draft: ExtensionDraft;
  onChange(draft: ExtensionDraft): void;
  isNew: boolean;
  versions: readonly { version: string; state: string }[];
  /**
   * The version in the goal state, if it differs from the requested version; undefined once the draft requests another
   * version.
   */
  running: string | undefined;
  others: readonly Dependent[];
  /** Other extensions of the handler whose version differs from the draft's. All must use the same version. */
  siblings: readonly string[];
  takesSiblings: boolean;
  onTakesSiblings(takes: boolean): void;
  faults: Faults;
}

/** The fields of the declaration other than settings, such as its name, version, state and timeouts. */
export function DeclarationFields(props: DeclarationFieldsProps) {
  const { draft, onChange, faults } = props;
  const isWithdrawn = props.versions.some(({ version, state }) => version === draft.version && state === 'withdrawn');
  return (
    <>
      <div
        className={cn(
          'grid gap-x-3 gap-y-3.5 sm:grid-cols-[minmax(0,1fr)_150px_150px]',
          // Leaves room for the word “withdrawn” after the version number.
          isWithdrawn && 'sm:grid-cols-[minmax(0,1fr)_230px_150px]',
        )}
      >
        <NameField draft={draft} onChange={onChange} isNew={props.isNew} faultAt={faults.at} />
        <VersionField {...props} />
        <StateField draft={draft} onChange={onChange} faultAt={faults.at} />
      </div>
      {props.siblings.length === 0 ? null : <SiblingsField {...props} />}
      <AutomaticField draft={draft} onChange={onChange} faultAt={faults.at} />
      <DependencyFields draft={draft} onChange={onChange} others={props.others} faultAt={faults.at} />
      <TimeoutFields draft={draft} onChange={onChange} faultAt={faults.at} />
    </>
  );
}

interface DraftFieldProps extends Pick<DeclarationFieldsProps, 'draft' | 'onChange'> {
  faultAt: Faults['at'];
}

function NameField({ draft, onChange, isNew, faultAt }: DraftFieldProps & { isNew: boolean }) {
  const { t } = useTranslation('editor');
  return (
    <div data-at="declared:/name">
      <Field
        id="extension-name"
        label={t('instance')}
        hint={isNew ? t('instance.hint') : undefined}
        error={faultAt('/name') ?? faultAt('/handler')}
      >
        <Input
          mono
          readOnly={!isNew}
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          maxLength={64}
          value={draft.name}
          className={isNew ? undefined : 'bg-sunken shadow-hair'}
          onChange={(event) => onChange({ ...draft, name: event.target.value })}
        />
      </Field>
    </div>
  );
}

/** The version field. Its error spans the whole row, because its column is too narrow for a sentence. */
function VersionField({ draft, onChange, versions, running, faults }: DeclarationFieldsProps) {
  const { t } = useTranslation('editor');
  const fault = faults.at('/version');
  return (
    <>
      <div data-at="declared:/version">
        <Field
          id="extension-version"
          label={t('version')}
          hint={running === undefined ? undefined : t('version.running', { version: running })}
        >
          <Select
            mono
            {...(fault !== undefined && { 'aria-invalid': true, 'aria-describedby': 'extension-version-fault' })}
            value={draft.version}
            onChange={(event) => onChange({ ...draft, version: event.target.value })}
            options={versions.map(({ version, state }) => ({
              value: version,
              label: state === 'withdrawn' ? t('version.withdrawn', { version }) : version,
            }))}
          />
        </Field>
      </div>
      <div
        id="extension-version-fault"
        aria-live="polite"
        className="-mt-2 empty:hidden sm:order-last sm:col-span-full"
      >
        {fault === undefined ? null : <FieldError>{fault}</FieldError>}
      </div>
    </>
  );
}

function StateField({ draft, onChange, faultAt }: DraftFieldProps) {
  const { t } = useTranslation('editor');
  return (
    <div data-at="declared:/state">
      <Field id="extension-state" label={t('state')} error={faultAt('/state')}>
        <Select
          value={draft.state}
          onChange={(event) =>
            onChange({ ...draft, state: event.target.value === 'disabled' ? 'disabled' : 'enabled' })
          }
          options={[
            { value: 'enabled', label: t('state.enabled') },
            { value: 'disabled', label: t('state.disabled') },
          ]}
        />
      </Field>
    </div>
  );
}

/** Offers to change the version of the handler's other extensions too, since all must use the same version. */
function SiblingsField({ draft, siblings, takesSiblings, onTakesSiblings, faults }: DeclarationFieldsProps) {
  const { t } = useTranslation('editor');
  return (
    <div data-at="declared:/siblings" className="grid gap-1">
      <ControlRow
        hint={t('siblings.hint')}
        control={<Checkbox checked={takesSiblings} onCheckedChange={(checked) => onTakesSiblings(checked === true)} />}
      >
        {t('siblings', { names: siblings.join(', '), version: draft.version })}
      </ControlRow>
      {faults.siblings.map((fault) => (
        <FieldError key={fault.path + fault.code}>
          {fault.path.split('/')[2]}: {fault.message}
        </FieldError>
      ))}
    </div>
  );
}

function AutomaticField({ draft, onChange, faultAt }: DraftFieldProps) {
  const { t } = useTranslation('editor');
  const fault = faultAt('/autoUpgradeMinorVersion');
  return (
    <div data-at="declared:/autoUpgradeMinorVersion">
      <ControlRow
        hint={t('autoUpgrade.hint')}
        control={
          <Checkbox
            checked={draft.autoUpgradeMinorVersion}
            onCheckedChange={(checked) => onChange({ ...draft, autoUpgradeMinorVersion: checked === true })}
          />
        }
      >
        {t('autoUpgrade')}
      </ControlRow>
      {fault === undefined ? null : <FieldError>{fault}</FieldError>}
    </div>
  );
}

function DependencyFields({ draft, onChange, others, faultAt }: DraftFieldProps & { others: readonly Dependent[] }) {
  const { t } = useTranslation('editor');
  const { dependsOn } = draft;
  const fault = faultAt('/dependsOn') ?? dependsOn.map((_, index) => faultAt(`/dependsOn/${index}`)).find(Boolean);
  // A dependency on a deleted extension stays in the list, so that the reader can remove it.
  const choices = [...new Set([...others.map(({ name }) => name), ...dependsOn])].sort();
  /**
   * Returns why a dependency cannot be chosen, if choosing it would create a cycle. A chosen dependency can always be
   * cleared.
   */
  const circleHint = (choice: string) => {
    const cycle = dependsOn.includes(choice) ? null : cycleThrough(others, draft.name, choice);
    return cycle === null ? undefined : t('dependsOn.circle', { path: cycle.join(' → ') });
  };
  const choose = (name: string, isChosen: boolean) =>
    onChange({ ...draft, dependsOn: isChosen ? [...dependsOn, name] : dependsOn.filter((other) => other !== name) });
  return (
    <fieldset data-at="declared:/dependsOn" className="grid gap-1.5" aria-describedby="depends-on-help">
      <legend className="float-left text-12 font-medium">{t('dependsOn')}</legend>
      {choices.length === 0 ? null : (
        <div className="flex flex-wrap gap-x-4 gap-y-1">
          {choices.map((name) => (
            <ControlRow
              key={name}
              hint={circleHint(name)}
              control={
                <Checkbox
                  checked={dependsOn.includes(name)}
                  disabled={circleHint(name) !== undefined}
                  onCheckedChange={(checked) => choose(name, checked === true)}
                />
              }
            >
              {name}
            </ControlRow>
          ))}
        </div>
      )}
      <div id="depends-on-help" aria-live="polite">
        {fault === undefined ? (
          <p className="text-12 text-ink-3">{choices.length === 0 ? t('dependsOn.none') : t('dependsOn.hint')}</p>
        ) : (
          <FieldError>{fault}</FieldError>
        )}
      </div>
    </fieldset>
  );
}

function TimeoutFields({ draft, onChange, faultAt }: DraftFieldProps) {
  const { t } = useTranslation('editor');
  const isWrong = commands.some((command) => faultAt(`/timeouts/${command}`) !== undefined);
  const set = (command: HandlerCommand, text: string) =>
    onChange({ ...draft, timeouts: { ...draft.timeouts, [command]: text } });
  return (
    <details open={isWrong || undefined} className="group">
      <summary className="w-fit cursor-pointer rounded-sm text-12 font-medium text-ink-2 hover:text-ink">
        {t('timeouts')} <span className="font-normal text-ink-3">{t('timeouts.note')}</span>
      </summary>
      <div className="mt-2.5 grid grid-cols-[repeat(auto-fit,minmax(92px,1fr))] gap-3">
        {commands.map((command) => (
          <div key={command} data-at={`declared:/timeouts/${command}`}>
            <Field
              id={`timeout-${command}`}
              label={
                <span translate="no" className="mono">
                  {command}
                </span>
              }
              error={faultAt(`/timeouts/${command}`)}
            >
              <Input
                inputMode="numeric"
                autoComplete="off"
                className="tabular-nums"
                placeholder={String(seconds)}
                after={t('timeouts.unit')}
                value={draft.timeouts[command]}
                onChange={(event) => set(command, event.target.value)}
              />
            </Field>
          </div>
        ))}
      </div>
    </details>
  );
}
