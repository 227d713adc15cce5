CREATE TABLE "extension_health" (
	"vm_id" uuid NOT NULL,
	"name" text NOT NULL,
	"handler" text NOT NULL,
	"goal_version" text NOT NULL,
	"version" text,
	"health" text NOT NULL,
	"heartbeat" text NOT NULL,
	"cause" text,
	"command" text,
	"exit_code" integer,
	"message_id" text,
	"waits_for" text,
	"since" timestamp with time zone NOT NULL,
	"deadline_at" timestamp with time zone,
	CONSTRAINT "extension_health_vm_id_name_pk" PRIMARY KEY("vm_id","name")
);
--> statement-breakpoint
CREATE TABLE "health_checks" (
	"vm_id" uuid PRIMARY KEY NOT NULL,
	"due_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "health_transitions" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "health_transitions_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"at" timestamp with time zone NOT NULL,
	"vm_id" uuid NOT NULL,
	"extension" text,
	"kind" text NOT NULL,
	"from" text,
	"to" text,
	"cause" text,
	"waits_for" text
);
--> statement-breakpoint
CREATE TABLE "version_counts" (
	"handler" text NOT NULL,
	"version" text NOT NULL,
	"hour" timestamp with time zone NOT NULL,
	"vms" integer NOT NULL,
	"failed" integer NOT NULL,
	CONSTRAINT "version_counts_handler_version_hour_pk" PRIMARY KEY("handler","version","hour")
);
--> statement-breakpoint
CREATE TABLE "vm_health" (
	"vm_id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"tags" jsonb NOT NULL,
	"health" text NOT NULL,
	"rank" smallint NOT NULL,
	"agent" text NOT NULL,
	"since" timestamp with time zone NOT NULL,
	"deadline_at" timestamp with time zone
);
--> statement-breakpoint
ALTER TABLE "extension_health" ADD CONSTRAINT "extension_health_vm_id_vms_id_fk" FOREIGN KEY ("vm_id") REFERENCES "public"."vms"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "health_checks" ADD CONSTRAINT "health_checks_vm_id_vms_id_fk" FOREIGN KEY ("vm_id") REFERENCES "public"."vms"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "health_transitions" ADD CONSTRAINT "health_transitions_vm_id_vms_id_fk" FOREIGN KEY ("vm_id") REFERENCES "public"."vms"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "vm_health" ADD CONSTRAINT "vm_health_vm_id_vms_id_fk" FOREIGN KEY ("vm_id") REFERENCES "public"."vms"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "extension_health_version" ON "extension_health" USING btree ("handler","goal_version","health");--> statement-breakpoint
CREATE INDEX "extension_health_message" ON "extension_health" USING btree ("message_id") WHERE "extension_health"."message_id" is not null;--> statement-breakpoint
CREATE INDEX "extension_health_cause" ON "extension_health" USING btree ("health","handler") WHERE "extension_health"."cause" is not null;--> statement-breakpoint
CREATE INDEX "extension_health_deadline" ON "extension_health" USING btree ("deadline_at") WHERE "extension_health"."deadline_at" is not null;--> statement-breakpoint
CREATE INDEX "health_checks_due" ON "health_checks" USING btree ("due_at");--> statement-breakpoint
CREATE INDEX "health_transitions_vm" ON "health_transitions" USING btree ("vm_id","at");--> statement-breakpoint
CREATE INDEX "health_transitions_at" ON "health_transitions" USING btree ("at") WHERE "health_transitions"."extension" is null;--> statement-breakpoint
CREATE INDEX "vm_health_name" ON "vm_health" USING btree ("name","vm_id");--> statement-breakpoint
CREATE INDEX "vm_health_rank" ON "vm_health" USING btree ("rank","name","vm_id");--> statement-breakpoint
CREATE INDEX "vm_health_since" ON "vm_health" USING btree ("since","vm_id");--> statement-breakpoint
CREATE INDEX "vm_health_deadline" ON "vm_health" USING btree ("deadline_at") WHERE "vm_health"."deadline_at" is not null;--> statement-breakpoint
CREATE INDEX "vm_health_tags" ON "vm_health" USING gin ("tags");
--> statement-breakpoint
INSERT INTO "health_checks" ("vm_id", "due_at") SELECT "id", now() FROM "vms" WHERE "deleted_at" IS NULL;
