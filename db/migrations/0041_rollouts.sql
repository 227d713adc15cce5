CREATE TABLE "rollout_curve" (
	"rollout_id" uuid NOT NULL,
	"ring" smallint NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"decided" integer NOT NULL,
	"failed" integer NOT NULL,
	"pairs" integer NOT NULL,
	"changed_first" integer NOT NULL,
	"control_first" integer NOT NULL,
	CONSTRAINT "rollout_curve_rollout_id_ring_at_pk" PRIMARY KEY("rollout_id","ring","at")
);
--> statement-breakpoint
CREATE TABLE "rollout_members" (
	"rollout_id" uuid NOT NULL,
	"ring" smallint NOT NULL,
	"first" integer NOT NULL,
	"low" text NOT NULL,
	"high" text NOT NULL,
	"vm_ids" uuid[] NOT NULL,
	"kinds" "bytea" NOT NULL,
	CONSTRAINT "rollout_members_rollout_id_ring_first_pk" PRIMARY KEY("rollout_id","ring","first")
);
--> statement-breakpoint
CREATE TABLE "rollout_rings" (
	"rollout_id" uuid NOT NULL,
	"ring" smallint NOT NULL,
	"state" text NOT NULL,
	"first" integer NOT NULL,
	"size" integer NOT NULL,
	"taken" integer DEFAULT 0 NOT NULL,
	"plan" json,
	"counts" jsonb NOT NULL,
	"verdicts" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"overruled" jsonb,
	"opened_at" timestamp with time zone,
	"met_at" timestamp with time zone,
	"passed_at" timestamp with time zone,
	"advanced" boolean DEFAULT false NOT NULL,
	"approvals" jsonb DEFAULT '[]'::jsonb NOT NULL,
	CONSTRAINT "rollout_rings_rollout_id_ring_pk" PRIMARY KEY("rollout_id","ring")
);
--> statement-breakpoint
CREATE TABLE "rollout_rules" (
	"id" integer PRIMARY KEY NOT NULL,
	"rules" json NOT NULL,
	"freezes" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"next_batch_at" timestamp with time zone,
	"changed_at" timestamp with time zone NOT NULL,
	"changed_by" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "rollout_steps" (
	"vm_id" uuid NOT NULL,
	"rollout_id" uuid NOT NULL,
	"ring" smallint NOT NULL,
	"place" integer NOT NULL,
	"kind" smallint NOT NULL,
	"state" text NOT NULL,
	"cause" text,
	"moved_to" smallint,
	"attempt" smallint DEFAULT 0 NOT NULL,
	"touched" json DEFAULT '[]'::json NOT NULL,
	"before_incarnation" integer,
	"incarnation" integer,
	"was_healthy" boolean DEFAULT false NOT NULL,
	"set_key" text,
	"published_at" timestamp with time zone,
	"delivered_at" timestamp with time zone,
	"concluded_at" timestamp with time zone,
	"healthy_at" timestamp with time zone,
	"breaks" smallint DEFAULT 0 NOT NULL,
	"decided_at" timestamp with time zone,
	"due_at" timestamp with time zone,
	"overtaken_by" jsonb,
	"pair_vm_id" uuid,
	"pair_result" text,
	"pair_changed_failed_at" timestamp with time zone,
	"pair_control_failed_at" timestamp with time zone,
	"pair_due_at" timestamp with time zone,
	"updated_at" timestamp with time zone NOT NULL,
	CONSTRAINT "rollout_steps_vm_id_rollout_id_pk" PRIMARY KEY("vm_id","rollout_id")
);
--> statement-breakpoint
CREATE TABLE "rollout_strategies" (
	"name" text PRIMARY KEY NOT NULL,
	"strategy" json NOT NULL,
	"automatic_for" text[] DEFAULT '{}' NOT NULL,
	"changed_at" timestamp with time zone NOT NULL,
	"changed_by" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "rollouts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"revision" integer NOT NULL,
	"name" text NOT NULL,
	"note" text,
	"kind" text NOT NULL,
	"state" text NOT NULL,
	"definition" json NOT NULL,
	"handler" text,
	"sealed" "bytea",
	"set_by" text,
	"paused_by" text,
	"why" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"next" jsonb,
	"plan" json,
	"plan_hash" text,
	"planning" integer DEFAULT 0 NOT NULL,
	"planned_at" timestamp with time zone,
	"planned_by" text,
	"approvals" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"accepted_overlap" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"members" integer DEFAULT 0 NOT NULL,
	"epoch" text NOT NULL,
	"due_at" timestamp with time zone,
	"served_at" timestamp with time zone,
	"next_batch_at" timestamp with time zone,
	"progress_at" timestamp with time zone,
	"health_seen" bigint DEFAULT 0 NOT NULL,
	"of" uuid,
	"reverted_by" uuid,
	"superseded_by" uuid,
	"created_at" timestamp with time zone NOT NULL,
	"created_by" text NOT NULL,
	"authors" jsonb NOT NULL,
	"start_at" timestamp with time zone,
	"started_at" timestamp with time zone,
	"started_by" text,
	"ended_at" timestamp with time zone
);
--> statement-breakpoint
ALTER TABLE "rollout_curve" ADD CONSTRAINT "rollout_curve_rollout_id_rollouts_id_fk" FOREIGN KEY ("rollout_id") REFERENCES "public"."rollouts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "rollout_members" ADD CONSTRAINT "rollout_members_rollout_id_rollouts_id_fk" FOREIGN KEY ("rollout_id") REFERENCES "public"."rollouts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "rollout_rings" ADD CONSTRAINT "rollout_rings_rollout_id_rollouts_id_fk" FOREIGN KEY ("rollout_id") REFERENCES "public"."rollouts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "rollout_steps" ADD CONSTRAINT "rollout_steps_vm_id_vms_id_fk" FOREIGN KEY ("vm_id") REFERENCES "public"."vms"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "rollout_steps" ADD CONSTRAINT "rollout_steps_rollout_id_rollouts_id_fk" FOREIGN KEY ("rollout_id") REFERENCES "public"."rollouts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "rollout_steps_open_vm" ON "rollout_steps" USING btree ("vm_id") WHERE "rollout_steps"."state" in ('inFlight', 'soaking', 'retrying', 'reverting');--> statement-breakpoint
CREATE UNIQUE INDEX "rollout_steps_open_set" ON "rollout_steps" USING btree ("set_key") WHERE "rollout_steps"."state" in ('inFlight', 'soaking', 'retrying', 'reverting') and "rollout_steps"."set_key" is not null;--> statement-breakpoint
CREATE INDEX "rollout_steps_state" ON "rollout_steps" USING btree ("rollout_id","state","ring","place");--> statement-breakpoint
CREATE INDEX "rollout_steps_place" ON "rollout_steps" USING btree ("rollout_id","ring","place");--> statement-breakpoint
CREATE INDEX "rollout_steps_due" ON "rollout_steps" USING btree ("due_at") WHERE "rollout_steps"."due_at" is not null;--> statement-breakpoint
CREATE INDEX "rollout_steps_pair" ON "rollout_steps" USING btree ("pair_vm_id") WHERE "rollout_steps"."pair_vm_id" is not null and "rollout_steps"."pair_result" is null;--> statement-breakpoint
CREATE INDEX "rollouts_due" ON "rollouts" USING btree ("due_at") WHERE "rollouts"."due_at" is not null;--> statement-breakpoint
CREATE INDEX "rollouts_created" ON "rollouts" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "rollouts_ended" ON "rollouts" USING btree ("ended_at") WHERE "rollouts"."ended_at" is not null;--> statement-breakpoint
CREATE INDEX "rollouts_of" ON "rollouts" USING btree ("of") WHERE "rollouts"."of" is not null;