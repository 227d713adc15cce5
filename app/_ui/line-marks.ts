import { type EditorState, type Range, StateEffect, StateField } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView } from '@codemirror/view';
import { MarkWidget, markedLines } from './mark-widget.ts';

/** A warning below a line of code. */
export interface LineMark {
  /** The number of the line, from 1. */
  line: number;
  message: string;
  act?: { label: string; run(): void } | undefined;
}

/** Replaces all warnings. */
export const setLineMarks = StateEffect.define<readonly LineMark[]>();

/** Draws the warnings and moves them with the text until they are replaced. */
export const lineMarks = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(drawn, transaction) {
    const set = transaction.effects.findLast((effect) => effect.is(setLineMarks));
    return set === undefined ? drawn.map(transaction.changes) : draw(transaction.state, set.value);
  },
  provide: (field) => EditorView.decorations.from(field),
});

function draw({ doc }: EditorState, marks: readonly LineMark[]): DecorationSet {
  const ranges: Range<Decoration>[] = [];
  const marked = new Set<number>();
  for (const { line: number, message, act } of marks) {
    // The text may have changed since the check.
    if (number < 1 || number > doc.lines) continue;
    const line = doc.line(number);
    if (!marked.has(number)) ranges.push(markedLines.warning.range(line.from));
    marked.add(number);
    const widget = new MarkWidget({ message, path: '', act }, 'warning');
    ranges.push(Decoration.widget({ widget, block: true, side: 1 }).range(line.to));
  }
  return Decoration.set(ranges, true);
}
