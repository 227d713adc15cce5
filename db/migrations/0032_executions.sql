CREATE TABLE "execution_calls" (
	"vm_id" uuid NOT NULL,
	"execution_id" uuid NOT NULL,
	"n" integer NOT NULL,
	"run" integer NOT NULL,
	"script" text,
	"function" text,
	"state" text NOT NULL,
	"row" integer NOT NULL,
	"until_row" integer,
	"at_ms" bigint NOT NULL,
	"took_ms" bigint,
	"exit_code" integer,
	"from_journal" boolean DEFAULT false NOT NULL,
	CONSTRAINT "execution_calls_vm_id_execution_id_n_pk" PRIMARY KEY("vm_id","execution_id","n")
);
--> statement-breakpoint
CREATE TABLE "execution_plans" (
	"sha256" text PRIMARY KEY NOT NULL,
	"text" text NOT NULL,
	"created_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "execution_stamps" (
	"vm_id" uuid PRIMARY KEY NOT NULL,
	"highest" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "executions" (
	"vm_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"plan_id" text NOT NULL,
	"stamp" bigint NOT NULL,
	"turn" bigint NOT NULL,
	"state" text NOT NULL,
	"name" text NOT NULL,
	"version" text NOT NULL,
	"plan_sha256" text NOT NULL,
	"channel" text NOT NULL,
	"queued_at" timestamp with time zone NOT NULL,
	"queued_by" text NOT NULL,
	"note" text,
	"valid_until" timestamp with time zone NOT NULL,
	"timeout_seconds" integer NOT NULL,
	"due_at" timestamp with time zone,
	"handed_out" integer DEFAULT 0 NOT NULL,
	"delivered_at" timestamp with time zone,
	"received_at" timestamp with time zone,
	"begun_at" timestamp with time zone,
	"concluded_at" timestamp with time zone,
	"machine_enrolled_at" timestamp with time zone,
	"cancel_asked_at" timestamp with time zone,
	"cancel_asked_by" text,
	"run" integer DEFAULT 0 NOT NULL,
	"reboots" integer DEFAULT 0 NOT NULL,
	"error_code" bigint,
	"reason" text,
	"result" text,
	"result_late" boolean DEFAULT false NOT NULL,
	"repeats" integer DEFAULT 0 NOT NULL,
	"followed_until" timestamp with time zone,
	CONSTRAINT "executions_vm_id_id_pk" PRIMARY KEY("vm_id","id")
);
--> statement-breakpoint
ALTER TABLE "command_outputs" ALTER COLUMN "extension" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "command_outputs" ALTER COLUMN "sequence_number" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "command_outputs" ALTER COLUMN "command" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "command_outputs" ALTER COLUMN "attempt" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "agents" ADD COLUMN "platforms" jsonb;--> statement-breakpoint
ALTER TABLE "goal_state_heads" ADD COLUMN "other_turn" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "command_outputs" ADD COLUMN "execution_id" uuid;--> statement-breakpoint
ALTER TABLE "execution_calls" ADD CONSTRAINT "execution_calls_execution" FOREIGN KEY ("vm_id","execution_id") REFERENCES "public"."executions"("vm_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "execution_stamps" ADD CONSTRAINT "execution_stamps_vm_id_vms_id_fk" FOREIGN KEY ("vm_id") REFERENCES "public"."vms"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "executions" ADD CONSTRAINT "executions_vm_id_vms_id_fk" FOREIGN KEY ("vm_id") REFERENCES "public"."vms"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "executions" ADD CONSTRAINT "executions_plan_sha256_execution_plans_sha256_fk" FOREIGN KEY ("plan_sha256") REFERENCES "public"."execution_plans"("sha256") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "executions_plan" ON "executions" USING btree ("plan_id");--> statement-breakpoint
CREATE UNIQUE INDEX "executions_stamp" ON "executions" USING btree ("vm_id","stamp");--> statement-breakpoint
CREATE UNIQUE INDEX "executions_turn" ON "executions" USING btree ("vm_id","turn");--> statement-breakpoint
CREATE INDEX "executions_queued" ON "executions" USING btree ("vm_id","turn") WHERE "executions"."state" = 'queued';--> statement-breakpoint
CREATE UNIQUE INDEX "executions_open" ON "executions" USING btree ("vm_id") WHERE "executions"."state" in ('delivered', 'running', 'restarting');--> statement-breakpoint
CREATE INDEX "executions_due" ON "executions" USING btree ("due_at") WHERE "executions"."due_at" is not null;--> statement-breakpoint
CREATE INDEX "executions_queued_at" ON "executions" USING btree ("queued_at");--> statement-breakpoint
CREATE INDEX "executions_cancel_asked" ON "executions" USING btree ("cancel_asked_at") WHERE "executions"."cancel_asked_at" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "command_outputs_execution" ON "command_outputs" USING btree ("vm_id","execution_id") WHERE "command_outputs"."execution_id" is not null;--> statement-breakpoint
ALTER TABLE "command_outputs" ADD CONSTRAINT "command_outputs_subject" CHECK (num_nulls("command_outputs"."extension", "command_outputs"."sequence_number", "command_outputs"."command", "command_outputs"."attempt") = case when "command_outputs"."execution_id" is null then 0 else 4 end);