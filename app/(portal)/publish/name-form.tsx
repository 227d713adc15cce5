'use client';

import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { type ExplainedProblem, faultAt } from '#app/_lib/problem.ts';
import { useReader } from '#app/_shell/reader.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardBody, CardHeader } from '#app/_ui/card.tsx';
import { Checkbox } from '#app/_ui/checkbox.tsx';
import { ControlRow, Field } from '#app/_ui/field.tsx';
import { Form } from '#app/_ui/form.tsx';
import { Input } from '#app/_ui/input.tsx';
import { namespaceOf } from '#app/(portal)/handlers/handler-name.ts';
import { parseHandlerId } from '#protocol/names.ts';
import { parseVersion } from '#protocol/version.ts';
import { CreatePublisher } from './create-publisher.tsx';
import type { Suggestion } from './suggest.ts';

export interface NameFormProps {
  suggestion: Suggestion;
  isFormula: boolean;
  known: readonly string[];
  publishers: readonly string[];
  hasMorePublishers: boolean;
  problem: ExplainedProblem | undefined;
  onSend(name: Suggestion & { carry: boolean }): void;
}

/** The form for the package's handler and version (AZ-P1). Offers to create the handler's publisher if none exists. */
export function NameForm(props: NameFormProps) {
  const { t } = useTranslation('packages');
  const reader = useReader();
  const form = useNameForm(props);
  const { handler, version, namespace, isAbsent } = form;
  return (
    <Card>
      <CardHeader title={t('name.title')} />
      <CardBody>
        <Form onSubmit={form.submit} className="grid gap-3 sm:grid-cols-[minmax(0,1fr)_14rem_auto] sm:items-start">
          <Field
            label={t(props.isFormula ? 'name.formula' : 'name.handler')}
            hint={
              reader.role === 'admin'
                ? t(props.isFormula ? 'name.formula.hint' : 'name.handler.hint')
                : t('name.handler.hint.mine', { namespaces: reader.namespaces.join(', ') })
            }
            error={form.handlerError}
          >
            <Input
              mono
              list="known-handlers"
              value={handler}
              onChange={(event) => form.setHandler(event.target.value)}
              placeholder={props.isFormula ? 'Acme.Lab.blog' : 'Acme.Lab.Probe'}
              autoComplete="off"
              autoCapitalize="off"
              spellCheck={false}
              required
            />
          </Field>
          <Field label={t('name.version')} hint={t('name.version.hint')} error={form.versionError}>
            <Input
              mono
              value={version}
              onChange={(event) => form.setVersion(event.target.value)}
              placeholder="1.0.0.0"
              autoComplete="off"
              inputMode="decimal"
              spellCheck={false}
              required
            />
          </Field>
          <Button type="submit" variant="primary" className="sm:mt-[23px]">
            {t('name.send')}
          </Button>
          {props.known.includes(handler.trim()) ? (
            <div className="sm:col-span-3">
              <ControlRow
                control={
                  <Checkbox checked={form.carry} onCheckedChange={(checked) => form.setCarry(checked === true)} />
                }
                hint={t('name.carry.hint')}
              >
                {t('name.carry')}
              </ControlRow>
            </div>
          ) : null}
          <datalist id="known-handlers">
            {props.known.map((id) => (
              <option key={id} value={id} />
            ))}
          </datalist>
        </Form>
        {isAbsent ? (
          <CreatePublisher
            key={namespace}
            namespace={namespace}
            mayCreate={reader.role === 'admin'}
            onCreated={form.onPublisherCreated}
          />
        ) : null}
      </CardBody>
    </Card>
  );
}

function useNameForm({ suggestion, publishers, hasMorePublishers, problem, onSend }: NameFormProps) {
  const { t } = useTranslation('packages');
  const reader = useReader();
  const [handler, setHandler] = useState(suggestion.handler);
  const [version, setVersion] = useState(suggestion.version);
  const [carry, setCarry] = useState(true);
  const [created, setCreated] = useState<readonly string[]>([]);
  const [tried, setTried] = useState<Suggestion>();
  const parsed = parseHandlerId(handler.trim());
  const namespace = namespaceOf(handler.trim());
  const isMine = reader.role === 'admin' || reader.namespaces.includes(namespace);
  const isAbsent =
    parsed !== null &&
    ((!hasMorePublishers && !publishers.includes(namespace)) || problem?.code === 'publisher_unknown') &&
    !created.includes(namespace);

  const wrongHandler =
    parsed === null
      ? t('name.handler.form')
      : isMine
        ? tried?.handler === handler.trim()
          ? faultAt(problem, '/handler')
          : undefined
        : t('name.handler.notMine', { namespace });
  const versionFault = tried?.version === version.trim() ? faultAt(problem, '/version') : undefined;
  const wrongVersion = parseVersion(version.trim()) === null ? t('name.version.form') : versionFault;

  const submit = () => {
    setTried({ handler: handler.trim(), version: version.trim() });
    if (parsed === null || !isMine || parseVersion(version.trim()) === null || isAbsent) return;
    onSend({ handler: handler.trim(), version: version.trim(), carry });
  };
  return {
    handler,
    setHandler,
    version,
    setVersion,
    namespace,
    carry,
    setCarry,
    /** Whether the publisher does not exist yet. */
    isAbsent,
    handlerError: tried !== undefined || (parsed !== null && !isMine) ? wrongHandler : undefined,
    versionError: tried !== undefined ? wrongVersion : undefined,
    submit,
    onPublisherCreated: () => setCreated((current) => [...current, namespace]),
  };
}
