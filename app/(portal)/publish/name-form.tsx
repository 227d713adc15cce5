'use client';

import { type FormEvent, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { faultAt, type Problem } from '#app/_lib/problem.ts';
import { useReader } from '#app/_shell/reader.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardBody, CardHeader } from '#app/_ui/card.tsx';
import { Field } from '#app/_ui/field.tsx';
import { Input } from '#app/_ui/input.tsx';
import { namespaceOf } from '#app/(portal)/handlers/handler-name.ts';
import { parseHandlerId } from '#protocol/names.ts';
import { parseVersion } from '#protocol/version.ts';
import { CreatePublisher } from './create-publisher.tsx';
import type { Suggestion } from './suggest.ts';

export interface NameFormProps {
  suggestion: Suggestion;
  known: readonly string[];
  publishers: readonly string[];
  hasMorePublishers: boolean;
  /** What was wrong with the last attempt. */
  problem: Problem | undefined;
  onSend(name: Suggestion): void;
}

/** Which handler and version the package is (AZ-P1), and the way to a publisher that does not exist yet. */
export function NameForm({ suggestion, known, publishers, hasMorePublishers, problem, onSend }: NameFormProps) {
  const { t } = useTranslation('packages');
  const reader = useReader();
  const [handler, setHandler] = useState(suggestion.handler);
  const [version, setVersion] = useState(suggestion.version);
  const [made, setMade] = useState<readonly string[]>([]);
  const [tried, setTried] = useState(false);
  const parsed = parseHandlerId(handler.trim());
  const namespace = namespaceOf(handler.trim());
  const isMine = reader.role === 'admin' || reader.namespaces.includes(namespace);
  const isAbsent =
    parsed !== null &&
    ((!hasMorePublishers && !publishers.includes(namespace)) || problem?.code === 'publisher_unknown') &&
    !made.includes(namespace);

  const wrongHandler =
    parsed === null
      ? t('name.handler.form')
      : isMine
        ? faultAt(problem, '/handler')
        : t('name.handler.notMine', { namespace });
  const wrongVersion = parseVersion(version.trim()) === null ? t('name.version.form') : faultAt(problem, '/version');

  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (parsed === null || !isMine || parseVersion(version.trim()) === null || isAbsent) return;
    onSend({ handler: handler.trim(), version: version.trim() });
  };

  return (
    <Card>
      <CardHeader title={t('name.title')} />
      <CardBody>
        <form onSubmit={submit} className="grid gap-3 sm:grid-cols-[minmax(0,1fr)_14rem_auto] sm:items-start">
          <Field
            label={t('name.handler')}
            hint={
              reader.role === 'admin'
                ? t('name.handler.hint')
                : t('name.handler.hint.mine', { namespaces: reader.namespaces.join(', ') })
            }
            error={tried || (parsed !== null && !isMine) ? wrongHandler : undefined}
          >
            <Input
              mono
              list="known-handlers"
              value={handler}
              onChange={(event) => setHandler(event.target.value)}
              placeholder="Acme.Lab.Probe"
              autoComplete="off"
              autoCapitalize="off"
              spellCheck={false}
              required
            />
          </Field>
          <Field label={t('name.version')} hint={t('name.version.hint')} error={tried ? wrongVersion : undefined}>
            <Input
              mono
              value={version}
              onChange={(event) => setVersion(event.target.value)}
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
          <datalist id="known-handlers">
            {known.map((id) => (
              <option key={id} value={id} />
            ))}
          </datalist>
        </form>
        {isAbsent ? (
          <CreatePublisher
            key={namespace}
            namespace={namespace}
            mayCreate={reader.role === 'admin'}
            onCreated={() => setMade((current) => [...current, namespace])}
          />
        ) : null}
      </CardBody>
    </Card>
  );
}
